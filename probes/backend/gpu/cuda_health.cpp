// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_health.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace bandgate {
namespace {

/// Long enough for clocks and link to be where the load put them, well within the sampling.
constexpr auto under_load = std::chrono::milliseconds(80);

/// Cumulative: what happened during the sampling is their difference.
bool counts_up(std::string_view name) {
  return name == "pcie_replays" || name == "ecc_uncorrected_volatile" || name.ends_with("_ns");
}

}  // namespace

std::vector<std::uint64_t> own_processes(std::vector<device_process> const& before,
                                         std::vector<device_process> const& after,
                                         std::uint64_t pid) {
  std::set<std::uint64_t> known;
  for (auto const& process : before) known.insert(process.pid);
  std::vector<std::uint64_t> added;
  for (auto const& process : after) {
    if (process.pid == pid) return {pid};
    if (!known.contains(process.pid)) added.push_back(process.pid);
  }
  // Of several new ones any may be a stranger: none is taken for this process.
  if (added.size() == 1) return {pid, added.front()};
  return {pid};
}

health_snapshot counted(health_snapshot const& before, health_snapshot const& after) {
  health_snapshot change;
  for (auto const& [name, now] : after) {
    auto const then = before.find(name);
    if (!counts_up(name) || then == before.end()) continue;
    auto difference = now;
    if (now.status == health_field::state::ok && then->second.status == health_field::state::ok)
      difference.value = std::get<double>(now.value) - std::get<double>(then->second.value);
    else if (now.status == health_field::state::ok)
      difference = then->second;
    change.emplace(name, std::move(difference));
  }
  return change;
}

health_snapshot under_load_so_far(health_snapshot const& before, health_snapshot now) {
  constexpr char const* events = "clock_event_reasons";
  auto const then = before.find(events);
  if (then == before.end() || then->second.status != health_field::state::ok) return now;
  auto& latest = now[events];
  if (latest.status != health_field::state::ok)
    latest = then->second;
  else  // bits, which a number of JSON holds exactly up to 2^53
    latest.value =
        static_cast<double>(static_cast<std::uint64_t>(std::get<double>(latest.value)) |
                            static_cast<std::uint64_t>(std::get<double>(then->second.value)));
  return now;
}

cuda_health::cuda_health(management const& library, device_identity identity)
    : library_(library), identity_(std::move(identity)) {
  health_.source = library_.available() ? library_.name() : "none: " + library_.why_not();
  health_.idle = library_.snapshot(identity_);
  others_ = library_.processes(identity_, {});
}

cuda_health::~cuda_health() {
  stop();
}

void cuda_health::context_made() {
  own_ = own_processes(others_, library_.processes(identity_, {}),
                       static_cast<std::uint64_t>(::getpid()));
}

void cuda_health::on_phase(phase now) {
  stop();
  if (now != phase::sampling) return;
  before_ = library_.snapshot(identity_);
  sampling_ = true;
  watcher_ = std::thread([this] { watch(); });
}

void cuda_health::watch() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, under_load, [&] { return !sampling_; });
  lock.unlock();
  health_.load = library_.snapshot(identity_);
  health_.processes = library_.processes(identity_, own_);
  lock.lock();
  watch_parts(lock);
}

/// Reads once in each part, until the sampling ends. `lock` holds the mutex but while it reads.
void cuda_health::watch_parts(std::unique_lock<std::mutex>& lock) {
  while (sampling_) {
    auto const part = part_;
    auto const over = [&] { return !sampling_ || part_ != part; };
    if (!look_at_) {
      wake_.wait(lock, over);
      continue;
    }
    auto const middle = *look_at_;
    if (wake_.wait_until(lock, middle, over)) continue;
    look_at_.reset();
    lock.unlock();
    auto state = library_.snapshot(identity_);
    health_.load = under_load_so_far(health_.load, state);
    lock.lock();
    if (part_ == part) state_ = std::move(state);
  }
}

void cuda_health::part_begins(nanoseconds expected_length) {
  {
    std::lock_guard const lock(mutex_);
    ++part_;
    look_at_ = std::chrono::steady_clock::now() + expected_length / 2;
    state_.clear();
  }
  wake_.notify_all();
}

health_snapshot cuda_health::part_ends() {
  std::lock_guard const lock(mutex_);
  ++part_;
  look_at_.reset();
  return std::exchange(state_, {});
}

/// Ends the watch of a sampling, if there is one.
void cuda_health::stop() {
  if (!watcher_.joinable()) return;
  {
    std::lock_guard const lock(mutex_);
    sampling_ = false;
  }
  wake_.notify_all();
  watcher_.join();
  health_.change = counted(before_, library_.snapshot(identity_));
}

health cuda_health::report() {
  stop();
  return health_;
}

}  // namespace bandgate
