// SPDX-License-Identifier: Apache-2.0
/// A GPU made of a loop: runs the probes' own kernels thread by thread on the CPU. Faults make it
/// do less or other work than asked, as a broken kernel would.
#pragma once

#include <bandgate/gpu.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bandgate::testing {

enum class fault {
  none,
  nothing_runs,
  one_thread_missing,
  last_block_missing,
  first_block_twice,  ///< and the last one not at all
  one_block_off,      ///< each block works on its neighbour's part
};

class emulated_gpu final : public gpu_context {
 public:
  emulated_gpu() {
    facts_.memory_total = mib(64);
    facts_.memory_free = mib(32);
    facts_.last_level_cache = kib(64);
    facts_.processors = 1;
    facts_.compute_capability = 100;
    facts_.is_gpu = true;
  }

  device_facts const& facts() const override { return facts_; }
  std::uint64_t seed() const override { return 0x0123456789abcdefULL; }

  buffer allocate(bytes size, char const* what) override {
    // Bytes past the end would be noticed: they are checked when the memory is freed by a
    // sanitizer.
    auto* const data =
        static_cast<unsigned char*>(std::aligned_alloc(64, (size.count + 63) / 64 * 64));
    std::memset(data, 0xee, size.count);
    if (std::string(what) != "result word") {
      last_ = data;
      last_size_ = size.count;
      if (first_ == nullptr) first_ = data;
    }
    return {data, size, [](void* p) { std::free(p); }};
  }

  void launch(void const* kernel, launch_grid grid, void**, char const* what) override {
    auto const& thread = *static_cast<emulated_kernel const*>(kernel);
    bool const broken = broken_ == what;
    gridDim.x = grid.blocks;
    blockDim.x = grid.threads;
    for (std::uint64_t block = 0; block < grid.blocks; ++block) {
      blockIdx.x = broken ? misplaced(block, grid.blocks) : block;
      if (blockIdx.x >= grid.blocks) continue;
      for (threadIdx.x = 0; threadIdx.x < grid.threads; ++threadIdx.x)
        if (!broken || !missing(blockIdx.x, threadIdx.x)) thread();
    }
    if (after_ && broken_after_ == what) after_();
  }

  void fill_bytes(void* device, unsigned char value, bytes size) override {
    std::memset(device, value, size.count);
  }
  void copy_to_host(void* host, void const* device, bytes size) override {
    std::memcpy(host, device, size.count);
  }
  void copy_on_device(void* to, void const* from, bytes size) override {
    std::memcpy(to, from, size.count);
  }
  void synchronize(char const*) override {}

  /// Launches of that name go wrong from now on. `thread`: which one of which block is left out.
  void breaks(char const* what, fault how, std::uint64_t block = 0, std::uint64_t thread = 0) {
    broken_ = what;
    fault_ = how;
    block_ = block;
    thread_ = thread;
  }
  /// Called after each launch of that name.
  void after(char const* what, std::function<void()> then) {
    broken_after_ = what;
    after_ = std::move(then);
  }
  unsigned char* first_buffer() const { return first_; }
  unsigned char* last_buffer() const { return last_; }
  std::uint64_t last_size() const { return last_size_; }
  device_facts& facts() { return facts_; }

 private:
  std::uint64_t misplaced(std::uint64_t block, std::uint64_t blocks) const {
    switch (fault_) {
      case fault::nothing_runs:
        return blocks;
      case fault::last_block_missing:
        return block + 1 == blocks ? blocks : block;
      case fault::first_block_twice:
        return block + 1 == blocks ? 0 : block;
      case fault::one_block_off:
        return block + 1;
      default:
        return block;
    }
  }
  bool missing(std::uint64_t block, std::uint64_t thread) const {
    return fault_ == fault::one_thread_missing && block == block_ && thread == thread_;
  }

  device_facts facts_;
  unsigned char* first_{};
  unsigned char* last_{};
  std::uint64_t last_size_{};
  std::string broken_, broken_after_;
  fault fault_{fault::none};
  std::uint64_t block_{}, thread_{};
  std::function<void()> after_;
};

}  // namespace bandgate::testing
