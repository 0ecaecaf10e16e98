// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/backend.hpp>
#include <bandgate/result.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/gpu/cuda_devices.hpp"
#include "backend/gpu/cuda_objects.hpp"

namespace bandgate {

/// "NVIDIA H200, GPU-…, PCI 0000:1b:00.0"
std::string label_of(device_identity const& identity);

/// A CUDA device with one stream. CUDA has one current device a thread and a process may use
/// several, so every call makes its own device the current one.
class cuda_context final : public gpu_context {
 public:
  using machine = std::shared_ptr<std::vector<cuda_device> const>;  ///< in PCI order
  /// Makes the context of device `index` of `all`; throws exclusively_held where another process
  /// has the card.
  cuda_context(machine all, std::size_t index);

  device_facts const& facts() const override { return facts_; }
  std::uint64_t seed() const override { return seed_; }
  buffer allocate(bytes size, char const* what) override;
  void launch(void const* kernel, launch_grid grid, void** arguments, char const* what) override;
  void fill_bytes(void* device, unsigned char value, bytes size) override;
  void copy_to_host(void* host, void const* device, bytes size) override;
  void copy_on_device(void* to, void const* from, bytes size) override;
  void synchronize(char const* what) override;
  buffer allocate_pinned(bytes size, char const* what) override;
  buffer allocate_pageable(bytes size, char const* what) override;
  void copy(void* to, void const* from, bytes size) override;
  gpu_context& side() override;
  gpu_context& peer(std::string const& selector) override;
  void wait_for(gpu_context& other) override;
  void start_timer() override;
  void stop_timer() override;
  double timer_seconds() override;

  cuda_stream const& stream() const noexcept { return stream_; }
  /// "launch of read on NVIDIA H200, GPU-…, PCI 0000:1b:00.0": every failure names its device.
  std::string on_device(std::string const& what) const { return what + " on " + label_; }
  /// For what is done with streams and events outside this class.
  void make_current();
  /// What there is to say of the memory that was allocated since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  struct opened {
    opened(int ordinal, std::string const& label);
  };
  device_identity const& identity() const { return all_->at(index_).identity; }
  void reach(cuda_context const& other);

  machine all_;
  std::size_t index_;
  std::string label_;
  int ordinal_;
  opened opened_;  ///< before the stream, which needs the context
  cuda_stream stream_;
  cuda_event timer_begin_, timer_end_, arrived_;
  device_facts facts_;
  std::uint64_t seed_;
  std::vector<std::string> notes_;
  std::unique_ptr<cuda_context> side_;
  std::map<std::size_t, std::unique_ptr<cuda_context>> peers_;  ///< by position in `all_`
};

}  // namespace bandgate
