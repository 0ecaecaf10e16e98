// SPDX-License-Identifier: Apache-2.0
/// What a probe's kernels get from the backend that runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <bandgate/probe.hpp>

namespace bandgate {

/// Memory of a device or of the host; freed on destruction, which logs and never throws.
class buffer {
 public:
  using release = std::function<void(void*)>;
  buffer() = default;
  buffer(void* data, bytes size, release free) : data_(data), size_(size), free_(std::move(free)) {}
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;
  ~buffer() {
    if (data_ != nullptr && free_) free_(data_);
  }

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  bytes size() const noexcept { return size_; }

 private:
  void swap(buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(free_, other.free_);
  }
  void* data_{};
  bytes size_{};
  release free_{};
};

struct launch_grid {
  std::uint64_t blocks{1};  ///< at most 2^31 - 1
  unsigned threads{1};
};

/// A GPU, one stream, plain allocations. All calls throw measurement_error naming what failed and
/// on which device. Contexts that a context hands out are its own and live as long as it does.
class gpu_context {
 public:
  virtual ~gpu_context() = default;
  virtual device_facts const& facts() const = 0;
  /// Random at every run, so that no pattern can be learned or left over.
  virtual std::uint64_t seed() const = 0;
  virtual buffer allocate(bytes size, char const* what) = 0;
  /// Enqueues a kernel; `gpu.hpp` has the typed form.
  virtual void launch(void const* kernel, launch_grid grid, void** arguments, char const* what) = 0;
  virtual void fill_bytes(void* device, unsigned char value, bytes size) = 0;
  virtual void copy_to_host(void* host, void const* device, bytes size) = 0;
  virtual void copy_on_device(void* to, void const* from, bytes size) = 0;
  virtual void synchronize(char const* what) = 0;

  /// Page-locked host memory, on the NUMA node of this GPU where that is known and allowed; host
  /// and kernels reach it at the same address. Touched, of no particular content.
  virtual buffer allocate_pinned(bytes size, char const* what) = 0;
  /// Ordinary host memory, touched: only host and copy() reach it.
  virtual buffer allocate_pageable(bytes size, char const* what) = 0;
  /// Enqueues the driver's own copy, between any two of this device's memory, host memory and the
  /// memory of a peer().
  virtual void copy(void* to, void const* from, bytes size) = 0;

  /// The same device with another stream, so that two things run at once.
  virtual gpu_context& side() = 0;
  /// Another GPU of this machine, each of the two reaching the other's memory. `selector`: a UUID,
  /// a PCI address, an index, or "auto", the next GPU in PCI order. Throws not_applicable where
  /// there is one GPU only or no access between the two, usage_error for a selector that names no
  /// other GPU.
  virtual gpu_context& peer(std::string const& selector) = 0;
  /// What is enqueued here from now on waits for all that `other` has been given until now.
  virtual void wait_for(gpu_context& other) = 0;

  /// The time that passes on this context's stream between two points of it.
  virtual void start_timer() = 0;
  virtual void stop_timer() = 0;
  /// Of the last start and stop; waits for nothing, so synchronize() comes before.
  virtual double timer_seconds() = 0;
};

/// The inner loops of host probes, the widest that this CPU has, chosen at run time. Pointers are
/// 64-byte aligned and counts are bytes, a multiple of 64. Sums are modulo 2^64.
struct host_loops {
  char const* name;                                                   ///< "plain", "avx2", "avx512"
  std::uint64_t (*sum64)(void const* from, std::uint64_t size);       ///< sum of 64-bit words
  std::uint64_t (*sum32_seq)(void const* from, std::uint64_t size);   ///< 4-byte loads, one a step
  std::uint64_t (*sum32_by4)(void const* from, std::uint64_t size);   ///< four independent a step
  void (*store64)(void* to, std::uint64_t size, std::uint64_t word);  ///< streaming stores
  void (*copy)(void* to, void const* from, std::uint64_t size);       ///< streaming stores
  /// a = b + factor * c, streaming stores; `size` in bytes of each
  void (*triad)(double* a, double const* b, double const* c, std::uint64_t size, double factor);
};

/// The CPU: pinned threads, each of which touches first what it uses.
class host_context {
 public:
  virtual ~host_context() = default;
  virtual device_facts const& facts() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual unsigned threads() const = 0;
  /// 2 MiB-aligned pages that nobody has touched yet.
  virtual buffer allocate(bytes size, char const* what) = 0;
  /// Runs `body(thread)` for 0 <= thread < threads(), each on its own pinned thread, and waits.
  virtual void parallel(std::function<void(unsigned thread)> const& body) = 0;
  virtual host_loops const& loops() const = 0;
};

/// One thread's contiguous run of a buffer: [begin, end), in bytes, multiples of `granule` (the
/// last run takes the remainder).
struct run_of {
  std::uint64_t begin;
  std::uint64_t end;
};
constexpr run_of slice(std::uint64_t size, unsigned thread, unsigned threads,
                       std::uint64_t granule = 4096) {
  std::uint64_t const units = size / granule;
  std::uint64_t const from = units / threads * thread + units % threads * thread / threads;
  std::uint64_t const to =
      units / threads * (thread + 1) + units % threads * (thread + 1) / threads;
  return {from * granule, thread + 1 == threads ? size : to * granule};
}

/// The data that probes work on: word i of the data with that seed (splitmix64, public domain,
/// Sebastiano Vigna). Random, so that neither compression nor wrong indexing goes unseen.
constexpr std::uint64_t random_word(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace bandgate
