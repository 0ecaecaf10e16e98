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

  void failed(check_plan::device const& device, task const& one, std::exception const& why) {
    std::lock_guard const lock(reporting);
    errors.push_back(short_id(device.identity, device.index) + " " + describe(one) + ": " +
                     why.what());
  }
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

char const* why_no_peer(device_identity const& device) {
  return device.mig_parent.empty() ? "it needs two GPUs, and this machine has one"
                                   : "it needs two GPUs, and a MIG slice reaches no other";
}

checked one_pair(supervisor const& runs, check_plan const& plan, check_plan::device const& device,
                 task const& one, baseline_library const& baselines, bool waits,
                 supervisor::progress const& listener) {
  checked pair;
  pair.id = short_id(device.identity, device.index);
  auto const& [what, given] = one;
  auto const values = complete(what->parameters, given);
  auto const relative_to = plan.judge ? baselines.relative_to(device.identity, *what, values)
                                      : std::vector<std::string>{};
  auto const attempt = [&](unsigned number) -> result& {
    pair.attempts.push_back(
        lacks_peer(one, plan.machine, device.index)
            ? runs.skip(device.identity, *what, given, why_no_peer(device.identity))
            : runs.measure(device.identity, device.index, *what, given, number, listener,
                           relative_to, waits));
    return pair.attempts.back();
  };
  auto& first = attempt(1);
  if (plan.judge) {
    // Judged as the device that was measured, which knows more of itself than the listing.
    auto const match = baselines.find(first.device, *what, values);
    first.verdict = judge(first, match);
    if (needs_confirmation(first.verdict)) {
      auto const first_verdict = first.verdict;
      auto& second = attempt(2);
      second.verdict = confirm(first_verdict, judge(second, match));
    }
  } else if (auto const v = judge(first, {}); first.failure || v.status == status::error) {
    first.verdict = v;  // a value above the ceiling is an error, judged or not
  } else if (!first.skip_reason.empty()) {
    first.verdict.status = status::skipped;
  }
  store(pair, plan);
  return pair;
}

/// What a device is to be measured with, each once. What loads the host link comes first: of all
/// devices only one at a time can.
std::vector<task> tasks_of(check_plan const& plan, check_plan::device const& device,
                           shared_state& shared) {
  std::vector<task> tasks;
  for (auto const& asked : plan.tasks) {
    try {
      for (auto& one : with_peers(asked, plan.machine, device.index))
        if (std::find(tasks.begin(), tasks.end(), one) == tasks.end())
          tasks.push_back(std::move(one));
    } catch (usage_error const& e) {
      shared.failed(device, asked, e);
    }
  }
  std::stable_partition(tasks.begin(), tasks.end(),
                        [](task const& one) { return one.what->load == load::link; });
  return tasks;
}

/// One after the other, but never waiting for the link or another GPU while there is other work.
/// Others that compute on the device are waited for until that was in vain: a night of thirty
/// probes does not wait half an hour thirty times.
void all_tasks_of(supervisor const& runs, check_plan const& plan, check_plan::device const& device,
                  baseline_library const& baselines, on_checked const& done,
                  supervisor::progress const& listener, shared_state& shared,
                  std::vector<checked>& out) {
  auto left = tasks_of(plan, device, shared);
  bool waits = true;
  while (!left.empty()) {
    task one = left.front();
    try {
      std::vector<std::vector<std::string>> wishes;
      for (auto const& other : left)
        wishes.push_back(resources_of(other, plan.machine, device.index));
      {
        resource_pool::lease const mine(shared.resources, wishes);
        auto const next = left.begin() + static_cast<std::ptrdiff_t>(mine.taken());
        one = std::move(*next);
        left.erase(next);
        out.push_back(one_pair(runs, plan, device, one, baselines, waits, listener));
        waits = waits && out.back().attempts.back().failure != failure::contended;
      }
      std::lock_guard const reporting(shared.reporting);
      if (done) done(out.back());
    } catch (std::exception const& e) {
      shared.failed(device, one, e);
      std::erase(left, one);  // where it was not even begun
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
