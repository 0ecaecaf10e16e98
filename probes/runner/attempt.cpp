// SPDX-License-Identifier: Apache-2.0
#include "runner/attempt.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "gate/numbers.hpp"
#include "measure/measure.hpp"
#include "runner/procedures.hpp"

namespace bandgate {
namespace {

class fan_out final : public observer {
 public:
  fan_out(std::initializer_list<observer*> listeners) : listeners_(listeners) {}
  void on_phase(phase p) override {
    for (auto* listener : listeners_) listener->on_phase(p);
  }
  void on_progress(std::uint64_t done, std::uint64_t all) override {
    for (auto* listener : listeners_) listener->on_progress(done, all);
  }

 private:
  std::vector<observer*> listeners_;
};

/// Adds the rate of another probe, measured on the device that is warm by now, and the ratio to it.
void compare_with(result& r, session& device, probe const& other) {
  auto const ready = device.prepare(other, complete(other.parameters, {}));
  ready->fill();
  must_be_right(*ready, 0);
  protocol warm;
  warm.plateau_floor = {};
  observer nobody;
  auto const shapes = subjects_of(*ready);
  auto const timed = measure(shapes, device.clock(), nobody, device.proportional(), warm);
  must_be_right(*ready, timed.shape);
  auto const rate = summary_of(timed, ready->work(), other).median;
  bool const is_time = other.direction == direction::lower_is_better;
  r.measurement->more.push_back({other.name, is_time ? "s" : "B/s", rate});
  r.measurement->more.push_back({"ratio to " + other.name, "1", r.measurement->median / rate});
}

void compare_with(result& r, session& device, std::string const& name) {
  try {
    compare_with(r, device, find_probe(name));
  } catch (not_applicable const& e) {
    r.notes.push_back("not compared with " + name + ": " + e.what());
  }
}

std::optional<double> ratio_to(measurement const& m, std::string const& name) {
  for (auto const& further : m.more)
    if (further.name == "ratio to " + name) return further.value;
  return std::nullopt;
}

/// For people: what the bounds of a verdict follow from.
std::string ratio_text(measurement const& m, std::string const& name, double ratio) {
  return percent_text(ratio) + " of " + name + ", which the same process measured at " +
         value_text(m.median / ratio, m.is_time);
}

void measure_into(result& r, session& device, probe const& what, parameters const& values,
                  observer& listener, std::vector<std::string> const& relative_to) {
  {
    listener.on_phase(phase::fill);
    auto const ready = device.prepare(what, values);
    r.notes = ready->work().notes;
    run_procedure(r, device, what, *ready, listener);
  }  // its buffers make room for the other probe's
  if (!what.compared_with.empty()) compare_with(r, device, what.compared_with);
  for (auto const& name : relative_to) {
    if (name != what.compared_with) compare_with(r, device, name);
    if (auto const ratio = ratio_to(*r.measurement, name))
      r.notes.push_back(ratio_text(*r.measurement, name, *ratio));
  }
}

}  // namespace

probe_record record_of(probe const& what, parameters const& values) {
  return {.name = what.name,
          .version = what.version,
          .parameters = values,
          .shape = {},
          .byte_rule = what.byte_rule,
          .ceiling = to_string(what.ceiling),
          .directions = what.directions,
          .lower_is_better = what.direction == direction::lower_is_better,
          .expected_spread = what.expected_spread};
}

result measure_attempt(session& device, probe const& what, parameters const& values,
                       observer& listener, std::vector<std::string> const& relative_to) {
  result r;
  r.device = device.identity();
  r.probe = record_of(what, values);
  fan_out all{&device.health(), &listener};
  try {
    measure_into(r, device, what, values, all, relative_to);
  } catch (not_applicable const& e) {
    r.skip_reason = e.what();
  } catch (measurement_error const& e) {
    r.failure = e.code();
    r.failure_message = e.what();
    r.measurement.reset();
  }
  all.on_phase(phase::done);
  r.health = device.health().report();
  return r;
}

void profile_launch(session& device, probe const& what, parameters const& values) {
  auto const ready = device.prepare(what, values);
  ready->fill();
  auto& first = ready->timed(0);
  first.sample(first.min_iterations());
}

}  // namespace bandgate
