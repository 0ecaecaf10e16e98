// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <bandgate/errors.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

namespace bandgate {
namespace {

/// A set for machines of any size: cpu_set_t ends at 1024 CPUs.
struct cpu_mask {
  explicit cpu_mask(int cpus)
      : bytes(CPU_ALLOC_SIZE(cpus)), set(CPU_ALLOC(cpus), [](cpu_set_t* s) { CPU_FREE(s); }) {
    CPU_ZERO_S(bytes, set.get());
  }
  std::size_t bytes;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set;
};

int pin_this_thread(int cpu) {
  cpu_mask mask(cpu + 1);
  CPU_SET_S(static_cast<std::size_t>(cpu), mask.bytes, mask.set.get());
  return ::sched_setaffinity(0, mask.bytes, mask.set.get()) == 0 ? 0 : errno;
}

/// Longer than the way from one pass to the next, far shorter than a person's idea of idle.
constexpr std::chrono::microseconds spin_time{20};

/// Waits until the value is no longer `old`: spins for a moment, so that the next pass starts
/// within a microsecond, then sleeps in the kernel.
std::uint32_t wait_for_change(std::atomic<std::uint32_t> const& value, std::uint32_t old) {
  auto const until = std::chrono::steady_clock::now() + spin_time;
  do {
    if (auto const now = value.load(std::memory_order_acquire); now != old) return now;
    std::this_thread::yield();  // whoever else needs this CPU goes first
  } while (std::chrono::steady_clock::now() < until);
  for (;;) {
    value.wait(old, std::memory_order_acquire);
    if (auto const now = value.load(std::memory_order_acquire); now != old) return now;
  }
}

}  // namespace

std::vector<int> usable_cpus() {
  for (int most = 1024;; most *= 2) {
    cpu_mask mask(most);
    if (::sched_getaffinity(0, mask.bytes, mask.set.get()) == 0) {
      std::vector<int> cpus;
      for (int cpu = 0; cpu < most; ++cpu)
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), mask.bytes, mask.set.get()))
          cpus.push_back(cpu);
      return cpus;
    }
    // EINVAL: the kernel's own mask is wider than this one.
    if (errno != EINVAL || most >= 1 << 20)
      throw measurement_error(failure::device_failed,
                              fmt::format("the CPUs of this process cannot be read "
                                          "(sched_getaffinity): {}",
                                          std::generic_category().message(errno)));
  }
}

std::vector<int> spread(std::vector<int> const& cpus, unsigned count) {
  if (count == 0 || count >= cpus.size()) return cpus;
  std::vector<int> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(cpus[i * cpus.size() / count]);
  return chosen;
}

thread_pool::thread_pool(std::vector<int> const& cpus) {
  try {
    start(cpus);
  } catch (...) {
    stop();
    throw;
  }
}

thread_pool::~thread_pool() {
  stop();
}

void thread_pool::start(std::vector<int> const& cpus) {
  threads_.reserve(cpus.size());
  try {
    for (unsigned i = 0; i < cpus.size(); ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (std::system_error const& e) {
    throw measurement_error(
        failure::device_failed,
        fmt::format("thread {} of {} could not be started: {}; raise the limit of processes "
                    "(ulimit -u, the cgroup's pids.max) or allow fewer CPUs",
                    threads_.size() + 1, cpus.size(), e.what()));
  }
  run([&](unsigned i) {
    if (int const error = pin_this_thread(cpus[i]); error != 0)
      throw measurement_error(failure::device_failed,
                              fmt::format("thread {} could not be pinned to CPU {}: {}", i, cpus[i],
                                          std::generic_category().message(error)));
  });
}

void thread_pool::stop() noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void thread_pool::run(std::function<void(unsigned)> const& body) {
  if (threads_.empty()) return;
  body_ = &body;
  error_ = nullptr;
  pending_.store(size(), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  // Sleeps at once: a caller that spins would take a core from the threads it waits for.
  while (auto const left = pending_.load(std::memory_order_acquire))
    pending_.wait(left, std::memory_order_acquire);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void thread_pool::work(unsigned index) {
  for (std::uint32_t seen = 0;;) {
    seen = wait_for_change(round_, seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    call(index);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_all();
  }
}

void thread_pool::call(unsigned index) noexcept {
  try {
    (*body_)(index);
  } catch (...) {
    std::lock_guard const lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

}  // namespace bandgate
