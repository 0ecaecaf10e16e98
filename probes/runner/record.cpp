// SPDX-License-Identifier: Apache-2.0
#include "runner/record.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "gate/judge.hpp"

namespace bandgate {
namespace {

/// Why a run must not become a reference; empty when it may.
std::string objection(result const& r, verdict const& v) {
  if (v.status != status::no_baseline)
    return v.reasons.empty() ? to_string(v.status) : v.reasons.front().sentence;
  if (r.measurement->unsettled)
    return "its samples did not settle; let the device cool down or find what disturbs it";
  for (auto const& cause : causes_present(r)) return "the device was held back: " + cause.sentence;
  return "";
}

double one_median(supervisor const& runs, record_plan const& plan, check_plan::device const& device,
                  task const& one, unsigned process, std::function<void(result const&)> const& done,
                  supervisor::progress const& listener, std::mutex& reporting) {
  auto const r =
      runs.measure(device.identity, device.index, *one.what, one.given, process, listener);
  auto const v = judge(r, {});  // without a baseline: what is wrong with the run itself
  if (auto const why = objection(r, v); !why.empty())
    throw measurement_error(v.status == status::inconclusive
                                ? failure::exclusively_held  // in use: it could not be judged
                                : r.failure.value_or(failure::device_failed),
                            "no baseline recorded: " + short_id(device.identity, device.index) +
                                " " + describe(one) + ", process " + std::to_string(process) +
                                " of " + std::to_string(plan.processes) + ": " + why);
  std::lock_guard const lock(reporting);
  if (done) done(r);
  return r.measurement->median;
}

}  // namespace

std::vector<recorded_probe> record(supervisor const& runs, record_plan const& plan,
                                   std::function<void(result const&)> const& done,
                                   supervisor::progress const& listener) {
  std::vector<recorded_probe> all;
  for (auto const& [what, given] : plan.tasks) {
    recorded_probe seen;
    seen.what = what;
    seen.values = complete(what->parameters, given);
    seen.medians_by_card.resize(plan.devices.size());
    for (auto const& device : plan.devices) seen.cards.push_back(device.identity.uuid);
    all.push_back(std::move(seen));
  }
  std::mutex reporting;
  std::exception_ptr failed;
  auto const one_device = [&](std::size_t card) {
    try {
      for (std::size_t p = 0; p < plan.tasks.size(); ++p)
        for (unsigned process = 1; process <= plan.processes; ++process)
          all[p].medians_by_card[card].push_back(one_median(
              runs, plan, plan.devices[card], plan.tasks[p], process, done, listener, reporting));
    } catch (...) {
      std::lock_guard const lock(reporting);
      if (!failed) failed = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t card = 0; card < plan.devices.size(); ++card)
      threads.emplace_back(one_device, card);
  }
  if (failed) std::rethrow_exception(failed);
  return all;
}

}  // namespace bandgate
