// SPDX-License-Identifier: Apache-2.0
#include "runner/record.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "gate/judge.hpp"
#include "runner/resources.hpp"

namespace bandgate {
namespace {

constexpr char const* not_settled =
    "its samples did not settle; let the device cool down or find what disturbs it";
/// So many processes of a card and probe are measured again because their samples did not settle.
constexpr unsigned most_repeated = 3;

/// Why a run must not become a reference; empty when it may.
std::string objection(result const& r, verdict const& v) {
  if (v.status != status::no_baseline)
    return v.reasons.empty() ? to_string(v.status) : v.reasons.front().sentence;
  for (auto const& cause : causes_present(r)) return "the device was held back: " + cause.sentence;
  if (r.measurement->unsettled) return not_settled;
  // A reference made of a dip would let every later dip pass.
  constexpr double most = 0.05;
  auto const& m = *r.measurement;
  if (m.drop && *m.drop < -most)
    return "it fell by more than 5 % from the first window to the last";
  if (m.worst && !m.is_time && *m.worst < (1 - most) * m.peak)
    return "its slowest part is more than 5 % below its fastest";
  return "";
}

/// The recording of one plan: what its threads share.
class recording {
 public:
  recording(supervisor const& runs, record_plan const& plan,
            std::function<void(result const&, unsigned)> const& done,
            supervisor::progress const& listener)
      : runs_(runs), plan_(plan), done_(done), listener_(listener) {
    for (auto const& one : plan_.tasks) entry_of(one);
  }

  void one_device(std::size_t card) {
    try {
      std::vector<task> tried;
      for (auto const& asked : plan_.tasks)
        for (auto const& one : with_peers(asked, plan_.machine, plan_.devices[card].index)) {
          if (std::find(tried.begin(), tried.end(), one) != tried.end()) continue;
          tried.push_back(one);
          one_task(card, one);
        }
    } catch (...) {
      std::lock_guard const lock(reporting_);
      if (!failed_) failed_ = std::current_exception();
    }
  }

  recorded finish() {
    if (failed_) std::rethrow_exception(failed_);
    std::erase_if(all_.probes, [&](recorded_probe const& seen) { return is_refused(seen); });
    for (auto& seen : all_.probes)
      for (std::size_t card = seen.cards.size(); card-- > 0;)
        if (seen.medians_by_card[card].empty()) {
          seen.cards.erase(seen.cards.begin() + static_cast<std::ptrdiff_t>(card));
          seen.medians_by_card.erase(seen.medians_by_card.begin() +
                                     static_cast<std::ptrdiff_t>(card));
        }
    std::erase_if(all_.probes, [](recorded_probe const& seen) { return seen.cards.empty(); });
    return std::move(all_);
  }

 private:
  /// Where the values of a task go: one place for all tasks that differ only in what is not keyed.
  recorded_probe& entry_of(task const& one) {
    auto const& declared = one.what->parameters;
    auto const values = keyed(declared, complete(declared, one.given));
    for (auto& seen : all_.probes)
      if (seen.what == one.what && seen.values == values) return seen;
    recorded_probe seen{one.what, values, {}, {}};
    seen.medians_by_card.resize(plan_.devices.size());
    for (auto const& device : plan_.devices) seen.cards.push_back(device.identity.uuid);
    // All are cards of one model, told apart by their board parts where those are known.
    seen.one_board_part =
        !plan_.devices.empty() && !plan_.devices.front().identity.board_part.empty();
    all_.probes.push_back(std::move(seen));
    return all_.probes.back();
  }

  void one_task(std::size_t card, task const& one) {
    auto const& device = plan_.devices[card];
    try {
      unsigned started = 0;
      for (unsigned process = 1; process <= plan_.processes; ++process) {
        if (given_up(one)) return;
        resource_pool::lease const mine(resources_, resources_of(one, plan_.machine, device.index));
        entry_of(one).medians_by_card[card].push_back(one_value(device, one, process, started));
      }
    } catch (not_applicable const& e) {
      std::lock_guard const lock(reporting_);
      all_.left_out.push_back(short_id(device.identity, device.index) + " " + describe(one) + ": " +
                              e.what());
    } catch (measurement_error const& e) {
      refuse(one, {e.what(), e.code() == failure::exclusively_held ? refusal::kind::contended
                                                                   : refusal::kind::failed});
    } catch (usage_error const& e) {
      refuse(one, {short_id(device.identity, device.index) + " " + describe(one) + ": " + e.what(),
                   refusal::kind::usage});
    }
  }

  void refuse(task const& one, refusal why) {
    std::lock_guard const lock(reporting_);
    all_.refused.push_back(std::move(why));
    auto const& seen = entry_of(one);
    refused_.emplace_back(seen.what, seen.values);
  }

  bool is_refused(recorded_probe const& seen) const {
    return std::find(refused_.begin(), refused_.end(), std::pair(seen.what, seen.values)) !=
           refused_.end();
  }
  /// By another card: what is measured from now on would be for nothing.
  bool given_up(task const& one) {
    std::lock_guard const lock(reporting_);
    return is_refused(entry_of(one));
  }

  /// `started`: so many processes were, of this device and task, those measured again included.
  double one_value(check_plan::device const& device, task const& one, unsigned process,
                   unsigned& started) {
    auto const who = short_id(device.identity, device.index) + " " + describe(one) + ", process " +
                     std::to_string(process) + " of " + std::to_string(plan_.processes) + ": ";
    while (true) {
      auto const r =
          runs_.measure(device.identity, device.index, *one.what, one.given, ++started, listener_);
      if (!r.failure && !r.skip_reason.empty()) throw not_applicable(r.skip_reason);
      auto const v = judge(r, {});  // without a baseline: what is wrong with the run itself
      auto const why = objection(r, v);
      std::lock_guard const lock(reporting_);
      if (why.empty()) {
        if (done_) done_(r, process);
        return value_to_record(*r.measurement, one.what->procedure);
      }
      // Neither is such a run judged without a second one.
      bool const disturbed = v.status == status::no_baseline && why == not_settled;
      if (!disturbed || started >= process + most_repeated)
        throw measurement_error(v.status == status::inconclusive
                                    ? failure::exclusively_held  // in use: it could not be judged
                                    : r.failure.value_or(failure::device_failed),
                                "no baseline recorded: " + who + why);
      all_.repeated.push_back(who + why);
    }
  }

  supervisor const& runs_;
  record_plan const& plan_;
  std::function<void(result const&, unsigned)> const& done_;
  supervisor::progress const& listener_;
  recorded all_;
  std::vector<std::pair<probe const*, parameters>> refused_;
  resource_pool resources_;
  std::mutex reporting_;
  std::exception_ptr failed_;
};

}  // namespace

double value_to_record(measurement const& m, procedure how) {
  if (how == procedure::settle || !m.worst) return m.median;
  return how == procedure::series ? *m.worst : *m.worst / m.median;
}

recorded record(supervisor const& runs, record_plan const& plan,
                std::function<void(result const&, unsigned)> const& done,
                supervisor::progress const& listener) {
  recording all(runs, plan, done, listener);
  {
    std::vector<std::jthread> threads;
    for (std::size_t card = 0; card < plan.devices.size(); ++card)
      threads.emplace_back([&, card] { all.one_device(card); });
  }
  return all.finish();
}

}  // namespace bandgate
