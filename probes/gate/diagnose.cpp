// SPDX-License-Identifier: Apache-2.0
#include "gate/diagnose.hpp"

#include <algorithm>

#include "gate/causes.hpp"

namespace bandgate {

char const* to_string(consequence weight) {
  switch (weight) {
    case consequence::note:
      return "note";
    case consequence::costs_bandwidth:
      return "costs-bandwidth";
    case consequence::unusable:
      return "unusable";
  }
  return "?";
}

namespace {

/// Fields that are there and could not be read, where most of the others could: by name, since the
/// rest of their group was.
std::vector<std::string> unavailable_of(health_snapshot const& idle) {
  constexpr std::size_t most_named = 5;
  std::vector<std::string> names;
  for (auto const& [name, field] : idle)
    if (field.status == health_field::state::unavailable) names.push_back(name);
  if (2 * names.size() > idle.size()) return {};
  if (names.size() > most_named) {
    auto const more = std::to_string(names.size() - most_named) + " more fields";
    names.resize(most_named);
    names.push_back(more);
  }
  return names;
}

}  // namespace

diagnosis diagnose(device_identity const& device, health const& at_rest,
                   expectations const& expected) {
  evidence const known{device, at_rest, nullptr, expected};
  diagnosis all;
  for (auto const& found : find_causes(known))
    all.found.push_back({found.rule->code, found.why.sentence, found.rule->effect,
                         found.rule->next_step, found.rule->at_rest});
  std::stable_sort(all.found.begin(), all.found.end(),
                   [](abnormality const& a, abnormality const& b) { return a.weight > b.weight; });
  auto groups = groups_of(known);
  all.looked_at = std::move(groups.read);
  all.unread = std::move(groups.unread);
  for (auto& field : unavailable_of(at_rest.idle)) all.unread.push_back(std::move(field));
  return all;
}

}  // namespace bandgate
