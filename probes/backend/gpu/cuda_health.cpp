// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_health.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "device/contention.hpp"

namespace bandgate {
namespace {

/// Long enough for clocks and link to be where the load put them, well within the sampling.
constexpr auto under_load = std::chrono::milliseconds(80);

/// Cumulative: what happened during the sampling is their difference.
bool counts_up(std::string_view name) {
  constexpr std::string_view counters[] = {"pcie_replays", "nvlink_errors",
                                           "ecc_corrected_volatile", "ecc_uncorrected_volatile",
                                           "ecc_uncorrected_aggregate"};
  return name.ends_with("_ns") || std::ranges::find(counters, name) != std::end(counters);
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
  using state = health_field::state;
  health_snapshot change;
  for (auto const& [name, now] : after) {
    auto const then = before.find(name);
    if (!counts_up(name) || then == before.end()) continue;
    auto const* const first = std::get_if<double>(&then->second.value);
    auto const* const last = std::get_if<double>(&now.value);
    if (now.status != state::ok)
      change[name] = now;
    else if (then->second.status != state::ok)
      change[name] = then->second;
    else if (first == nullptr || last == nullptr)
      change[name] = {state::unavailable, {}, "the counter is no number"};
    else if (*last < *first)
      change[name] = {state::unavailable, {}, "the counter was set back meanwhile"};
    else
      change[name] = {state::ok, *last - *first, {}};
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

std::string source_of(management const& library) {
  return library.available() ? library.name() : "none: " + library.why_not();
}

cuda_health::cuda_health(std::shared_ptr<management const> library, device_identity identity)
    : library_(std::move(library)), identity_(std::move(identity)) {
  health_.source = source_of(*library_);
  health_.idle = library_->snapshot(identity_);
  others_ = library_->processes(identity_, {});
}

cuda_health::~cuda_health() {
  stop();
}

/// An MPS server is listed as computing when its clients do, this process perhaps among them.
std::vector<device_process> cuda_health::others_now() const {
  auto others = library_->processes(identity_, own_);
  for (auto& process : others)
    if (is_mps_server(process)) process.active = false;
  return others;
}

void cuda_health::context_made() {
  own_ = own_processes(others_, library_->processes(identity_, {}),
                       static_cast<std::uint64_t>(::getpid()));
}

void cuda_health::on_phase(phase now) {
  stop();
  if (now != phase::sampling) return;
  before_ = library_->snapshot(identity_);
  sampling_ = true;
  watcher_ = std::thread([this] { watch(); });
}

void cuda_health::watch() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, under_load, [&] { return !sampling_; });
  lock.unlock();
  health_.load = library_->snapshot(identity_);
  health_.processes = others_now();
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
    auto state = library_->snapshot(identity_);
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
  health_.change = counted(before_, library_->snapshot(identity_));
}

health cuda_health::report() {
  stop();
  return health_;
}

}  // namespace bandgate
