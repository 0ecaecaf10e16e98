// SPDX-License-Identifier: Apache-2.0
#include "backend/scripted/scripted_session.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <deque>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <bandgate/parts.hpp>

#include "backend/scripted/scripted_clock.hpp"
#include "backend/scripted/scripted_monitor.hpp"
#include "device/contention.hpp"
#include "device/peer.hpp"
#include "device/steps.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;

/// What passes on the clock while the timer reads nothing.
constexpr nanoseconds unread_time = 1ms;
/// Of a kernel that does no work, however many passes it is asked for: above one sample's target.
constexpr nanoseconds emptied_kernel_time = 25ms;
/// Far above every time limit, far below what nanoseconds can count.
constexpr double longest_sample_ns = 1e18;

class scripted_subject final : public subject {
 public:
  scripted_subject(device_identity const& who, work const& planned, course& run,
                   scripted_clock& time)
      : who_(who), work_(planned), run_(run), clock_(time) {}

  nanoseconds sample(std::uint64_t iterations) override {
    if (run_.sampling) ++run_.sampling_calls;
    fail_as_scripted();
    auto const elapsed = duration_of(iterations);
    clock_.pass(elapsed == nanoseconds::zero() ? unread_time : elapsed);
    return elapsed;
  }
  std::uint64_t bytes_per_iteration() const override { return work_.bytes_per_pass; }
  std::uint64_t min_iterations() const override { return work_.min_iterations; }

 private:
  void fail_as_scripted() {
    auto const& attempt = *run_.attempt;
    // For ever, as a hung driver does: only a signal from outside ends it.
    while (run_.sampling && attempt.hang_at_sample == run_.sampling_calls) ::pause();
    run_.lost = run_.lost || (run_.sampling && attempt.lost_at_sample == run_.sampling_calls);
    if (run_.lost)
      throw measurement_error(
          failure::device_lost,
          fmt::format("GPU lost: {} stopped answering at sample {}; look for Xid 79 in the kernel "
                      "log, then reset or replace the card",
                      scripted_label(who_), run_.sampling_calls));
  }

  nanoseconds duration_of(std::uint64_t iterations) const {
    auto const& attempt = *run_.attempt;
    auto const value =
        attempt.parts.empty()
            ? of_part(attempt.samples, std::max<std::uint64_t>(run_.sampling_calls, 1) - 1)
            : of_part(attempt.parts, run_.part);
    if (value == 0) return nanoseconds::zero();
    if (attempt.passes_ignored) return emptied_kernel_time;
    auto const base = to_base(value, attempt.unit);
    auto const seconds_per_pass =
        attempt.unit == unit::microseconds ? base : static_cast<double>(bytes_of_pass()) / base;
    auto const ns = seconds_per_pass * static_cast<double>(iterations) * 1e9;
    return nanoseconds(static_cast<nanoseconds::rep>(std::min(ns, longest_sample_ns) + 0.5));
  }

  std::uint64_t bytes_of_pass() const {
    return work_.slices == 0 ? work_.bytes_per_pass : bytes_of_slice(work_, run_.part);
  }

  device_identity const& who_;
  work const& work_;
  course& run_;
  scripted_clock& clock_;
};

class scripted_prepared final : public prepared {
 public:
  scripted_prepared(device_identity const& who, bandgate::work planned,
                    std::vector<launch_shape> shapes, course& run, scripted_clock& time)
      : who_(who),
        work_(std::move(planned)),
        shapes_(std::move(shapes)),
        run_(run),
        subject_(who_, work_, run_, time) {}

  bandgate::work const& work() const override { return work_; }
  std::vector<launch_shape> const& shapes() const override { return shapes_; }
  void fill() override {}
  std::optional<std::string> verify(std::size_t) override {
    auto const& told = *run_.attempt;
    // Slices are verified once, after the sampling.
    auto const& found = run_.sampled
                            ? (work_.slices != 0 && told.wrong ? told.wrong : told.wrong_after)
                            : told.wrong;
    auto const is_named = std::find(told.wrong_parts.begin(), told.wrong_parts.end(),
                                    run_.part + 1) != told.wrong_parts.end();
    if (!found || (run_.sampled && !told.wrong_parts.empty() && !is_named)) return std::nullopt;
    return fmt::format("{}: {}", scripted_label(who_), *found);
  }
  /// One for all: a script knows no shapes.
  subject& timed(std::size_t) override { return subject_; }
  void select(std::uint64_t slice) override { run_.part = slice; }

 private:
  device_identity const& who_;
  bandgate::work work_;
  std::vector<launch_shape> shapes_;
  course& run_;
  scripted_subject subject_;
};

class scripted_session final : public session {
 public:
  scripted_session(std::shared_ptr<script const> whole, scripted_device const& device,
                   unsigned attempt, std::unique_ptr<scripted_clock> time, nanoseconds since,
                   std::vector<std::string> notes)
      : script_(std::move(whole)),
        device_(device),
        attempt_(attempt),
        clock_(std::move(time)),
        monitor_(device_.health, *clock_, since),
        notes_(std::move(notes)) {}

  device_identity const& identity() const override { return device_.identity; }
  device_facts facts() const override;
  bandgate::clock& clock() override { return *clock_; }
  bool proportional() const override { return true; }
  std::unique_ptr<prepared> prepare(probe const& what, parameters const& values) override;
  health_monitor& health() override { return monitor_; }

 private:
  void require_peer(probe const& what, parameters const& values) const;
  void require_room(probe const& what, work const& planned, scripted_attempt const& told) const;

  std::shared_ptr<script const> script_;
  scripted_device const& device_;
  unsigned attempt_;
  std::deque<course> runs_;
  std::unique_ptr<scripted_clock> clock_;
  scripted_monitor monitor_;
  std::vector<std::string> notes_;
};

device_facts scripted_session::facts() const {
  auto const& d = device_.identity;
  device_facts facts;
  facts.memory_total = {d.memory_bytes.value()};
  facts.memory_free = device_.memory_free;
  facts.last_level_cache = {d.last_level_cache_bytes.value_or(0)};
  facts.processors = d.processors.value_or(0);
  if (!d.compute_capability.starts_with("gfx"))    // an architecture of AMD's is no number
    for (char const digit : d.compute_capability)  // "9.0" is 90
      if (digit != '.')
        facts.compute_capability =
            facts.compute_capability * 10 + static_cast<unsigned>(digit - '0');
  facts.is_gpu = true;
  return facts;
}

std::unique_ptr<prepared> scripted_session::prepare(probe const& what, parameters const& values) {
  auto const* told = find_attempt(device_, what, values, attempt_);
  if (told == nullptr)
    throw not_applicable(
        fmt::format("{} says nothing of probe '{}': name it, or \"*\", at {}/probes",
                    script_->origin, what.name, device_.pointer));
  auto& run = runs_.emplace_back(course{told});
  monitor_.watch(run);
  if (told->exclusive)
    throw measurement_error(
        failure::exclusively_held,
        fmt::format("{} is in exclusive-process mode and another process holds it",
                    scripted_label(device_.identity)));
  require_peer(what, values);
  auto planned = what.plan(values, facts());
  planned.notes.insert(planned.notes.begin(), notes_.begin(), notes_.end());
  for (auto const part : told->wrong_parts)
    if (part > planned.slices)
      throw usage_error(fmt::format(
          "{}: {}: wrong_parts has {}, but probe '{}' has {}", script_->origin, device_.pointer,
          part, what.name,
          planned.slices == 0 ? "no slices" : std::to_string(planned.slices) + " of them"));
  require_room(what, planned, *told);
  return std::make_unique<scripted_prepared>(device_.identity, std::move(planned),
                                             what.shapes(values, facts()), run, *clock_);
}

/// A peer is another device of the script, as it is another of the machine.
void scripted_session::require_peer(probe const& what, parameters const& values) const {
  std::vector<device_identity> listed;
  std::size_t self = 0;
  for (auto const& device : script_->devices) {
    if (device.missing) continue;
    if (&device == &device_) self = listed.size();
    listed.push_back(device.identity);
  }
  for (auto const& p : what.parameters)
    if (p.kind == parameter_kind::device)
      find_peer(listed, self, std::get<std::string>(values.at(p.name)));
}

void scripted_session::require_room(probe const& what, work const& planned,
                                    scripted_attempt const& told) const {
  std::uint64_t wanted = 0;
  for (auto const& [name, size] : planned.buffers) wanted += size.count;
  if (told.out_of_memory || wanted > device_.memory_free.count)
    throw measurement_error(
        failure::out_of_memory,
        fmt::format("out of memory: the buffers of probe '{}' need {} bytes on {}, of which {} "
                    "were free before; choose a smaller size or find who holds the memory",
                    what.name, wanted, scripted_label(device_.identity),
                    device_.memory_free.count));
}

}  // namespace

std::unique_ptr<session> open_scripted(std::shared_ptr<script const> whole,
                                       scripted_device const& device,
                                       std::vector<scripted_device const*> const& beside,
                                       open_options const& how,
                                       std::function<void(std::string const&)> const& announce) {
  if (!device.lost.empty())
    throw measurement_error(failure::device_lost,
                            scripted_label(device.identity) + " is lost: " + device.lost);
  auto time = make_scripted_clock(whole->real_pace);
  auto const since = time->now();
  std::vector<participant> all;
  auto const takes_part = [&](scripted_device const& one) {
    all.push_back({scripted_label(one.identity), [&] {
                     auto const seen = one.health.at(time->now() - since);
                     return occupancy_of(seen.idle, seen.processes);
                   }});
  };
  takes_part(device);
  for (auto const* other : beside) takes_part(*other);
  auto const pause = [&](nanoseconds length) {
    if (announce) announce(waiting_for_others);
    time->pass(length);
  };
  auto notes = wait_for_others(all, *time, pause, how.wait_idle, how.allow_contention);
  return std::make_unique<scripted_session>(std::move(whole), device, how.attempt, std::move(time),
                                            since, std::move(notes));
}

}  // namespace bandgate
