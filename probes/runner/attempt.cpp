// SPDX-License-Identifier: Apache-2.0
#include "runner/attempt.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "measure/measure.hpp"
#include "measure/statistics.hpp"

namespace bandgate {
namespace {

class fan_out final : public observer {
 public:
  fan_out(std::initializer_list<observer*> listeners) : listeners_(listeners) {}
  void on_phase(phase p) override {
    for (auto* listener : listeners_) listener->on_phase(p);
  }

 private:
  std::vector<observer*> listeners_;
};

std::vector<subject*> subjects_of(prepared& ready) {
  std::vector<subject*> all;
  for (std::size_t i = 0; i < ready.shapes().size(); ++i) all.push_back(&ready.timed(i));
  return all;
}

void must_be_right(prepared& ready, std::size_t shape) {
  if (auto const wrong = ready.verify(shape))
    throw measurement_error(failure::wrong_result, *wrong);
}

void measure_into(result& r, session& device, probe const& what, parameters const& values,
                  observer& listener) {
  listener.on_phase(phase::fill);
  auto const ready = device.prepare(what, values);
  r.notes = ready->work().notes;
  ready->fill();
  listener.on_phase(phase::verify);
  must_be_right(*ready, 0);
  auto const shapes = subjects_of(*ready);
  auto const timed = measure(shapes, device.clock(), listener, device.proportional());
  listener.on_phase(phase::verify_again);
  must_be_right(*ready, timed.shape);

  r.probe.shape = ready->shapes()[timed.shape];
  auto m = summarize(timed.seconds_per_pass, ready->work().bytes_per_pass,
                     what.direction == direction::lower_is_better);
  m.iterations = timed.iterations;
  m.bytes_per_pass = ready->work().bytes_per_pass;
  m.warm_up_s = std::chrono::duration<double>(timed.warm_up).count();
  m.verified = true;
  r.measurement = std::move(m);
}

}  // namespace

probe_record record_of(probe const& what, parameters const& values) {
  return {.name = what.name,
          .version = what.version,
          .parameters = values,
          .shape = {},
          .byte_rule = what.byte_rule,
          .ceiling = to_string(what.ceiling),
          .lower_is_better = what.direction == direction::lower_is_better,
          .expected_spread = what.expected_spread};
}

result measure_attempt(session& device, probe const& what, parameters const& values,
                       observer& listener) {
  result r;
  r.device = device.identity();
  r.probe = record_of(what, values);
  fan_out all{&device.health(), &listener};
  try {
    measure_into(r, device, what, values, all);
  } catch (not_applicable const& e) {
    r.skip_reason = e.what();
  } catch (measurement_error const& e) {
    r.failure = e.code();
    r.failure_message = e.what();
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
