// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bandgate {

/// The CPUs that this process may run on, in ascending order.
std::vector<int> usable_cpus();

/// `count` of them, spread evenly, so that a cgroup's quota is used on all sockets. All of them
/// when there are not more.
std::vector<int> spread(std::vector<int> const& cpus, unsigned count);

/// Threads that live as long as the pool, each pinned to one CPU. The caller is none of them: a
/// pinned caller would hand its one CPU down to every thread that it starts later.
class thread_pool {
 public:
  /// One thread a CPU. Throws measurement_error(device_failed) when one cannot be started or
  /// pinned.
  explicit thread_pool(std::vector<int> const& cpus);
  ~thread_pool();
  thread_pool(thread_pool const&) = delete;
  thread_pool& operator=(thread_pool const&) = delete;

  unsigned size() const noexcept { return static_cast<unsigned>(threads_.size()); }

  /// Runs body(i) on thread i, for all i at once, and waits. The first exception that a body throws
  /// is thrown here, after all of them have ended. Not to be called from a body.
  void run(std::function<void(unsigned)> const& body);

 private:
  void start(std::vector<int> const& cpus);
  void stop() noexcept;
  void work(unsigned index);
  void call(unsigned index) noexcept;

  std::atomic<std::uint32_t> round_{0};    ///< advanced once for each run()
  std::atomic<std::uint32_t> pending_{0};  ///< threads that have not finished this round
  std::atomic<bool> stopping_{false};
  std::function<void(unsigned)> const* body_{};  ///< published by round_
  std::mutex mutex_;
  std::exception_ptr error_;  ///< the first of this round, under mutex_
  std::vector<std::thread> threads_;
};

}  // namespace bandgate
