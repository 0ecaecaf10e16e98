// SPDX-License-Identifier: Apache-2.0
#include "runner/trial.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runner/rejudge.hpp"

namespace bandgate {
namespace {

template <class T>
std::string text_of(std::optional<T> const& value) {
  return value ? fmt::format("{}", *value) : "?";
}

/// All that decides which entries are for a device.
std::string identity_of(device_identity const& d) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", d.backend, d.name, d.uuid,
                     d.pci_device, d.pci_subsystem, d.board_part, text_of(d.memory_bytes),
                     text_of(d.ecc), d.mig_profile, d.cpu_model, text_of(d.processors));
}

}  // namespace

trial::trial(baseline_library const& baselines, std::vector<probe> const& known)
    : baselines_(baselines), known_(known) {}

std::optional<tried> trial::add(result r) {
  complete(r.probe);
  auto key = r.run.group_id + "\n" + key_of(r);
  bool const same = !waiting_.empty() && !r.run.group_id.empty() && key == waiting_key_ &&
                    r.run.attempt > waiting_.back().run.attempt;
  std::optional<tried> before;
  if (!same) before = finish();
  waiting_key_ = std::move(key);
  waiting_.push_back(std::move(r));
  return before;
}

std::optional<tried> trial::finish() {
  if (waiting_.empty()) return std::nullopt;
  checked pair{
      .id = {}, .attempts = std::exchange(waiting_, {}), .stored = {}, .recording_error = {}};
  auto const& match = match_for(pair.attempts.front());
  rejudge(pair, match);
  tried found{
      .last = std::move(pair.attempts.back()), .attempts = pair.attempts.size(), .files = {}};
  for (auto const* entry : {&match.model, &match.card})
    if (*entry) found.files.push_back((*entry)->file);
  return found;
}

baseline_match const& trial::match_for(result const& r) {
  auto const [found, is_new] =
      matches_.try_emplace(identity_of(r.device) + "\n" + key_of(r), baseline_match{});
  if (is_new) found->second = match_of(r, baselines_, known_);
  return found->second;
}

void trial::complete(probe_record& p) const {
  if (!p.ceiling.empty()) return;
  auto const own = std::find_if(known_.begin(), known_.end(),
                                [&](probe const& one) { return one.name == p.name; });
  if (own == known_.end()) return;
  p.ceiling = to_string(own->ceiling);
  p.directions = own->directions;
  p.lower_is_better = own->direction == direction::lower_is_better;
}

}  // namespace bandgate
