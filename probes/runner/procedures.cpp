// SPDX-License-Identifier: Apache-2.0
#include "runner/procedures.hpp"

#include <vector>

#include <bandgate/parts.hpp>

#include "measure/series.hpp"
#include "measure/slices.hpp"
#include "measure/statistics.hpp"

namespace bandgate {
namespace {

bool is_time(probe const& what) {
  return what.direction == direction::lower_is_better;
}

/// What the statistics do not know.
template <class Timed>
measurement completed(measurement m, Timed const& timed, work const& planned) {
  m.iterations = timed.iterations;
  m.bytes_per_pass = planned.bytes_per_pass;
  m.warm_up_s = std::chrono::duration<double>(timed.warm_up).count();
  m.verified = true;
  return m;
}

void fill_and_verify(prepared& ready, observer& listener) {
  ready.fill();
  listener.on_phase(phase::verify);
  must_be_right(ready, 0);
}

/// Warm-up, ranking and sampling between two verifications.
void settle(result& r, session& device, probe const& what, prepared& ready, observer& listener) {
  fill_and_verify(ready, listener);
  auto const shapes = subjects_of(ready);
  auto const timed = measure(shapes, device.clock(), listener, device.proportional());
  auto further = ready.more(median(timed.seconds_per_pass));
  listener.on_phase(phase::verify_again);
  must_be_right(ready, timed.shape);
  r.probe.shape = ready.shapes()[timed.shape];
  auto m = summary_of(timed, ready.work(), what);
  m.more = std::move(further);
  if (auto const traffic = ready.work().traffic_per_pass; traffic != 0)
    m.more.push_back(
        {traffic_name, "B/s",
         m.peak * static_cast<double>(traffic) / static_cast<double>(m.bytes_per_pass)});
  r.measurement = std::move(m);
}

/// Windows of one second between two verifications.
void over_time(result& r, session& device, probe const& what, prepared& ready, observer& listener) {
  fill_and_verify(ready, listener);
  auto const shapes = subjects_of(ready);
  auto const& planned = ready.work();
  auto const timed = measure_series(shapes, device.clock(), listener, device.health(),
                                    device.proportional(), planned.windows);
  listener.on_phase(phase::verify_again);
  must_be_right(ready, timed.shape);
  r.probe.shape = ready.shapes()[timed.shape];
  r.measurement =
      completed(summarize(timed, planned.bytes_per_pass, is_time(what)), timed, planned);
}

/// What the verification of a slice found.
struct wrong_slice {
  std::uint64_t slice;
  std::string what;
};

std::string sentence(std::vector<wrong_slice> const& wrong, work const& planned) {
  constexpr std::size_t most_named = 4;
  auto text = std::to_string(wrong.size()) + (wrong.size() == 1 ? " slice is" : " slices are") +
              " not what was written: ";
  for (std::size_t i = 0; i < std::min(wrong.size(), most_named); ++i) {
    auto const begin = wrong[i].slice * planned.slice_bytes;
    text += (i == 0 ? "" : "; ") + slice_text(wrong[i].slice, planned.slices, begin,
                                              begin + bytes_of_slice(planned, wrong[i].slice));
  }
  if (wrong.size() > most_named) text += "; " + std::to_string(wrong.size() - most_named) + " more";
  return text + ". In slice " + std::to_string(wrong.front().slice + 1) + ": " + wrong.front().what;
}

/// Every slice is looked at, whatever the ones before it were.
void all_must_be_right(prepared& ready, std::size_t shape, observer& listener) {
  auto const& planned = ready.work();
  std::vector<wrong_slice> wrong;
  for (std::uint64_t i = 0; i < planned.slices; ++i) {
    listener.on_progress(i, planned.slices);
    ready.select(i);
    if (auto found = ready.verify(shape)) wrong.push_back({i, *std::move(found)});
  }
  if (!wrong.empty()) throw measurement_error(failure::wrong_result, sentence(wrong, planned));
}

/// One short measurement of each slice. All are filled before the first is read and compared after
/// the last was, so that two slices which share their memory are noticed, whichever they are.
void over_memory(result& r, session& device, probe const& what, prepared& ready,
                 observer& listener) {
  auto const& planned = ready.work();
  for (std::uint64_t i = 0; i < planned.slices; ++i) {
    listener.on_progress(i, planned.slices);
    ready.select(i);
    ready.fill();
  }
  auto const shapes = subjects_of(ready);
  auto const timed = measure_slices(
      shapes, [&](std::uint64_t slice) { ready.select(slice); }, planned.slices, device.clock(),
      listener, device.proportional());
  listener.on_phase(phase::verify_again);
  all_must_be_right(ready, timed.shape, listener);
  r.probe.shape = ready.shapes()[timed.shape];
  r.measurement = completed(summarize(timed, planned, is_time(what)), timed, planned);
}

}  // namespace

void must_be_right(prepared& ready, std::size_t shape) {
  if (auto const wrong = ready.verify(shape))
    throw measurement_error(failure::wrong_result, *wrong);
}

std::vector<subject*> subjects_of(prepared& ready) {
  std::vector<subject*> all;
  for (std::size_t i = 0; i < ready.shapes().size(); ++i) all.push_back(&ready.timed(i));
  return all;
}

measurement summary_of(measured const& timed, work const& planned, probe const& what) {
  return completed(summarize(timed.seconds_per_pass, planned.bytes_per_pass, is_time(what)), timed,
                   planned);
}

void run_procedure(result& r, session& device, probe const& what, prepared& ready,
                   observer& listener) {
  switch (what.procedure) {
    case procedure::settle:
      return settle(r, device, what, ready, listener);
    case procedure::series:
      return over_time(r, device, what, ready, listener);
    case procedure::slices:
      return over_memory(r, device, what, ready, listener);
  }
}

}  // namespace bandgate
