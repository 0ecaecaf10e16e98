// SPDX-License-Identifier: Apache-2.0
#include "runner/check.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "gate/judge.hpp"
#include "records/result_store.hpp"
#include "runner/resources.hpp"

namespace bandgate {
namespace {

/// What the threads of one check share.
struct shared_state {
  resource_pool resources;
  std::mutex reporting;
  std::vector<std::string> errors;
};

void store(checked& pair, check_plan const& plan) {
  if (plan.results.empty()) return;
  for (auto const& attempt : pair.attempts) {
    try {
      pair.stored.push_back(store_result(attempt, plan.results));
    } catch (usage_error const& e) {
      pair.recording_error = e.what();
    }
  }
}

checked one_pair(supervisor const& runs, check_plan const& plan, check_plan::device const& device,
                 task const& one, baseline_library const& baselines,
                 supervisor::progress const& listener) {
  checked pair;
  pair.id = short_id(device.identity, device.index);
  auto const& [what, given] = one;
  auto const attempt = [&](unsigned number) -> result& {
    pair.attempts.push_back(
        runs.measure(device.identity, device.index, *what, given, number, listener));
    return pair.attempts.back();
  };
  auto& first = attempt(1);
  if (plan.judge) {
    // Judged as the device that was measured, which knows more of itself than the listing.
    auto const match = baselines.find(first.device, *what, complete(what->parameters, given));
    first.verdict = judge(first, match);
    if (needs_confirmation(first.verdict)) {
      auto const first_verdict = first.verdict;
      auto& second = attempt(2);
      second.verdict = confirm(first_verdict, judge(second, match));
    }
  } else if (first.failure) {
    first.verdict = judge(first, {});
  } else if (!first.skip_reason.empty()) {
    first.verdict.status = status::skipped;
  }
  store(pair, plan);
  return pair;
}

void one_task_of(supervisor const& runs, check_plan const& plan, check_plan::device const& device,
                 task const& one, baseline_library const& baselines, on_checked const& done,
                 supervisor::progress const& listener, shared_state& shared,
                 std::vector<checked>& out) {
  try {
    {
      resource_pool::lease const mine(shared.resources,
                                      resources_of(one, plan.machine, device.index));
      out.push_back(one_pair(runs, plan, device, one, baselines, listener));
    }
    std::lock_guard const reporting(shared.reporting);
    if (done) done(out.back());
  } catch (std::exception const& e) {
    std::lock_guard const reporting(shared.reporting);
    shared.errors.push_back(short_id(device.identity, device.index) + " " + describe(one) + ": " +
                            e.what());
  }
}

void all_tasks_of(supervisor const& runs, check_plan const& plan, check_plan::device const& device,
                  baseline_library const& baselines, on_checked const& done,
                  supervisor::progress const& listener, shared_state& shared,
                  std::vector<checked>& out) {
  std::vector<task> tried;
  for (auto const& asked : plan.tasks) {
    try {
      for (auto const& one : with_peers(asked, plan.machine, device.index)) {
        if (std::find(tried.begin(), tried.end(), one) != tried.end()) continue;
        tried.push_back(one);
        one_task_of(runs, plan, device, one, baselines, done, listener, shared, out);
      }
    } catch (usage_error const& e) {
      std::lock_guard const reporting(shared.reporting);
      shared.errors.push_back(short_id(device.identity, device.index) + " " + describe(asked) +
                              ": " + e.what());
    }
  }
}

}  // namespace

check_report check(supervisor const& runs, check_plan const& plan,
                   baseline_library const& baselines, on_checked const& done,
                   supervisor::progress const& listener) {
  shared_state shared;
  std::vector<std::vector<checked>> per_device(plan.devices.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < plan.devices.size(); ++i)
      threads.emplace_back([&, i] {
        all_tasks_of(runs, plan, plan.devices[i], baselines, done, listener, shared, per_device[i]);
      });
  }
  check_report report;
  report.errors = std::move(shared.errors);
  for (auto& pairs : per_device)
    std::move(pairs.begin(), pairs.end(), std::back_inserter(report.pairs));
  return report;
}

}  // namespace bandgate
