// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "gate/judge.hpp"

namespace bandgate {
namespace {

std::string first_sentence(verdict const& v) {
  return v.reasons.empty() ? to_string(v.status) : v.reasons.front().sentence;
}

bool is_fine(verdict const& v) {
  return v.status == status::pass || v.status == status::improved;
}

}  // namespace

bool needs_confirmation(verdict const& first) {
  return first.status == status::regression;
}

verdict confirm(verdict const& first, verdict const& second) {
  if (!needs_confirmation(first)) return first;
  verdict v = second;
  if (second.status == status::regression) {
    v.reasons.push_back(
        {"confirmed", "low in two fresh processes; the first: " + first_sentence(first)});
  } else if (is_fine(second)) {
    v.unstable = true;
    v.reasons.insert(
        v.reasons.begin(),
        {"unstable", "low once and fine in a fresh process; the first: " + first_sentence(first)});
    if (v.next_step.empty())
      v.next_step =
          "Watch this device: if it is unstable again, look for what shares it or for a "
          "fault that comes and goes.";
  } else {
    v.reasons.push_back({"not-confirmed", "the first attempt was low: " + first_sentence(first)});
    // A loss was seen; a second attempt that judges nothing must not turn it into a skip.
    if (second.status != status::error) v.status = status::inconclusive;
  }
  return v;
}

status worst(std::vector<status> const& all) {
  constexpr std::array order{status::error,       status::regression, status::inconclusive,
                             status::improved,    status::pass,       status::measured,
                             status::no_baseline, status::skipped};
  for (auto const s : order)
    if (std::find(all.begin(), all.end(), s) != all.end()) return s;
  return status::error;
}

}  // namespace bandgate
