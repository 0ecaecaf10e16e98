// SPDX-License-Identifier: Apache-2.0
#include "runner/rejudge.hpp"

#include <algorithm>
#include <tuple>

#include "gate/judge.hpp"
#include "records/stored_results.hpp"

namespace bandgate {
namespace {

std::string device_key(device_identity const& d) {
  return d.backend + "|" + (d.uuid.empty() ? d.pci_address : d.uuid);
}

/// The index that a listing would give it is not known without asking a driver.
std::string name_of(device_identity const& d) {
  if (d.backend == "host") return "host";
  if (d.uuid.empty() && d.pci_address.empty()) return "machine";
  bool const slice = !d.mig_profile.empty() || !d.mig_parent.empty();
  if (!d.pci_address.empty() && !slice) return d.pci_address;
  return d.uuid;
}

std::chrono::system_clock::time_point start_of(result const& r) {
  if (auto const when = parse_time(r.run.started)) return *when;
  throw usage_error("result " + r.run.id + ": /run/started: \"" + r.run.started +
                    "\" is no time; delete the file or correct it");
}

/// Of a machine whose devices could not all be listed: it speaks of no device that is there.
bool is_of_the_machine(result const& r) {
  return r.failure && r.device.uuid.empty() && r.device.pci_address.empty() &&
         r.device.backend != "host";
}

}  // namespace

std::string key_of(result const& r) {
  auto key = device_key(r.device) + "|" + r.probe.name;
  for (auto const& [name, value] : r.probe.parameters)
    key += "|" + name + "=" + to_string(value, parameter_kind::count);
  return key;
}

void newest_results::add(result r) {
  auto const started = start_of(r);
  if (is_of_the_machine(r)) missed_something_.insert(r.run.group_id);
  auto& attempts = attempts_by_key_[key_of(r)];
  if (!attempts.empty() && attempts.front().run.group_id != r.run.group_id) {
    bool const older = std::any_of(attempts.begin(), attempts.end(),
                                   [&](result const& other) { return start_of(other) > started; });
    if (older) return;
    attempts.clear();
  }
  bool const is_copy = std::any_of(attempts.begin(), attempts.end(), [&](result const& other) {
    return other.run.id == r.run.id || other.run.attempt == r.run.attempt;
  });
  if (!is_copy) attempts.push_back(std::move(r));
}

void newest_results::drop_mended() {
  std::chrono::system_clock::time_point newest{};
  std::string group;
  for (auto const& [key, attempts] : attempts_by_key_)
    for (auto const& r : attempts)
      if (start_of(r) >= newest) {
        newest = start_of(r);
        group = r.run.group_id;
      }
  std::erase_if(attempts_by_key_, [&](auto const& entry) {
    return is_of_the_machine(entry.second.front()) && !missed_something_.contains(group);
  });
}

std::vector<checked> newest_results::take() {
  drop_mended();
  std::vector<checked> pairs;
  for (auto& [key, attempts] : attempts_by_key_) {
    std::sort(attempts.begin(), attempts.end(),
              [](result const& a, result const& b) { return a.run.attempt < b.run.attempt; });
    auto name = name_of(attempts.back().device);
    pairs.push_back({.id = std::move(name),
                     .attempts = std::move(attempts),
                     .stored = {},
                     .recording_error = {}});
  }
  attempts_by_key_.clear();
  std::stable_sort(pairs.begin(), pairs.end(), [](checked const& a, checked const& b) {
    auto const place = [](checked const& pair) {
      auto const& d = pair.final().device;
      return std::tie(d.pci_address, d.uuid);
    };
    return place(a) < place(b);
  });
  return pairs;
}

baseline_match match_of(result const& r, baseline_library const& baselines,
                        std::vector<probe> const& known) {
  for (auto const& one : known)
    if (one.name == r.probe.name) return baselines.find(r.device, one, r.probe.parameters);
  return {};
}

void rejudge(checked& pair, baseline_library const& baselines) {
  rejudge(pair, match_of(pair.attempts.front(), baselines, registered_probes()));
}

void rejudge(checked& pair, baseline_match const& match) {
  auto& first = pair.attempts.front();
  first.verdict = judge(first, match);
  if (pair.attempts.size() == 1) {
    if (needs_confirmation(first.verdict) && first.run.attempt == 1)
      first.verdict.reasons.push_back(
          {"unconfirmed", "judged again from one stored attempt, no second was measured"});
    if (first.run.attempt > 1) {  // which is measured only where the first asked for it
      first.verdict.unstable = first.verdict.status == status::pass;
      first.verdict.reasons.push_back(
          {"first-attempt-gone",
           "the attempt before this one, which was low or unsettled, is not stored"});
    }
    return;
  }
  auto& last = pair.attempts.back();
  auto const second = judge(last, match);
  if (needs_confirmation(first.verdict)) {
    last.verdict = confirm(first.verdict, second);
  } else if (needs_confirmation(second)) {
    // By other bounds than those of then the first is fine: one low and one fine is unstable, too.
    first.verdict = confirm(second, first.verdict);
    std::swap(first, last);
  } else {
    last.verdict = second;
  }
}

}  // namespace bandgate
