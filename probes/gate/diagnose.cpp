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
  return all;
}

}  // namespace bandgate
