// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/backend.hpp>
#include <bandgate/result.hpp>
#include <string>

#include "backend/gpu/cuda_objects.hpp"

namespace bandgate {

/// The calling thread's CUDA device with one stream.
class cuda_context final : public gpu_context {
 public:
  /// Makes the device's context; throws exclusively_held where another process has the card.
  cuda_context(int ordinal, device_identity const& identity);

  device_facts const& facts() const override { return facts_; }
  std::uint64_t seed() const override { return seed_; }
  buffer allocate(bytes size, char const* what) override;
  void launch(void const* kernel, launch_grid grid, void** arguments, char const* what) override;
  void fill_bytes(void* device, unsigned char value, bytes size) override;
  void copy_to_host(void* host, void const* device, bytes size) override;
  void copy_on_device(void* to, void const* from, bytes size) override;
  void synchronize(char const* what) override;

  cuda_stream const& stream() const noexcept { return stream_; }
  /// "launch of read on NVIDIA H200, GPU-…, PCI 0000:1b:00.0": every failure names its device.
  std::string on_device(std::string const& what) const { return what + " on " + label_; }

 private:
  struct opened {
    opened(int ordinal, std::string const& label);
  };
  std::string label_;
  opened opened_;  ///< before the stream, which needs the context
  cuda_stream stream_;
  device_facts facts_;
  std::uint64_t seed_;
};

}  // namespace bandgate
