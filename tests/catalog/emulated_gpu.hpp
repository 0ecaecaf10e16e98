// SPDX-License-Identifier: Apache-2.0
/// A GPU made of a loop: runs the probes' own kernels thread by thread on the CPU. Faults make it
/// do less or other work than asked, as a broken kernel or copy engine would.
#pragma once

#include <algorithm>
#include <bandgate/gpu.hpp>
#include <cstring>
#include <functional>
#include <map>
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

/// What may go wrong with a copy of the driver.
enum class copy_fault { none, nothing, tail_missing, one_word_off, one_bit, other_way };

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
    memory_[what] = data;
    return {data, size, [](void* p) { std::free(p); }};
  }
  buffer allocate_pinned(bytes size, char const* what) override { return allocate(size, what); }
  buffer allocate_pageable(bytes size, char const* what) override { return allocate(size, what); }

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
    std::memset(device, value, size.count - std::min(fills_short_by_, size.count));
  }
  void copy_to_host(void* host, void const* device, bytes size) override {
    std::memcpy(host, device, size.count);
  }
  void copy_on_device(void* to, void const* from, bytes size) override {
    std::memcpy(to, from, size.count);
  }
  void synchronize(char const*) override {}

  void copy(void* to, void const* from, bytes size) override {
    auto* const target = static_cast<unsigned char*>(to);
    bool const broken = broken_copy_ == every_copy || broken_copy_ == copies_++;
    auto const fault = broken ? copy_fault_ : copy_fault::none;
    switch (fault) {
      case copy_fault::nothing:
        break;
      case copy_fault::tail_missing:
        std::memcpy(to, from, size.count - 16);
        break;
      case copy_fault::one_word_off:
        std::memcpy(target + 8, from, size.count - 8);
        break;
      case copy_fault::other_way:
        std::memcpy(const_cast<void*>(from), to, size.count);
        break;
      default:
        std::memcpy(to, from, size.count);
    }
    if (fault == copy_fault::one_bit) target[flipped_byte_] ^= 0x10;
  }
  emulated_gpu& side() override {
    if (!side_) side_ = std::make_unique<emulated_gpu>();
    return *side_;
  }
  /// "none" is a GPU out of reach.
  emulated_gpu& peer(std::string const& selector) override {
    if (selector == "none") throw not_applicable("no peer access");
    if (!peer_) peer_ = std::make_unique<emulated_gpu>();
    return *peer_;
  }
  void wait_for(gpu_context& other) override { waited_for_.push_back(&other); }
  void start_timer() override { ++timers_; }
  void stop_timer() override {}
  double timer_seconds() override { return seconds_; }

  /// Launches of that name go wrong from now on. `thread`: which one of which block is left out.
  void breaks(char const* what, fault how, std::uint64_t block = 0, std::uint64_t thread = 0) {
    broken_ = what;
    fault_ = how;
    block_ = block;
    thread_ = thread;
  }
  /// Copies go wrong from now on, each or only the one with that number (from 0 on, from now on).
  static constexpr std::uint64_t every_copy = UINT64_MAX;
  void breaks_copies(copy_fault how, std::uint64_t which = every_copy,
                     std::uint64_t flipped_byte = 0) {
    copy_fault_ = how;
    broken_copy_ = which;
    flipped_byte_ = flipped_byte;
    copies_ = 0;
  }
  /// Fills leave out so many of their last bytes from now on.
  void shortens_fills(std::uint64_t by) { fills_short_by_ = by; }
  /// Called after each launch of that name.
  void after(char const* what, std::function<void()> then) {
    broken_after_ = what;
    after_ = std::move(then);
  }
  unsigned char* first_buffer() const { return first_; }
  unsigned char* last_buffer() const { return last_; }
  std::uint64_t last_size() const { return last_size_; }
  device_facts& facts() { return facts_; }
  /// Where the memory of that name is.
  unsigned char* memory(std::string const& what) const { return memory_.at(what); }
  std::vector<gpu_context*> const& waited_for() const { return waited_for_; }
  unsigned timers() const { return timers_; }
  void timer_reads(double seconds) { seconds_ = seconds; }

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
  std::map<std::string, unsigned char*> memory_;
  copy_fault copy_fault_{copy_fault::none};
  std::uint64_t broken_copy_{every_copy}, flipped_byte_{}, copies_{};
  std::uint64_t fills_short_by_{};
  std::unique_ptr<emulated_gpu> side_, peer_;
  std::vector<gpu_context*> waited_for_;
  unsigned timers_{};
  double seconds_{1};
};

}  // namespace bandgate::testing
