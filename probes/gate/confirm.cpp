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

/// Within its bounds, but on its way somewhere.
bool is_unsettled(verdict const& v) {
  return v.status == status::inconclusive && !v.reasons.empty() &&
         v.reasons.front().code == "unsettled";
}

}  // namespace

bool needs_confirmation(verdict const& first) {
  return first.status == status::regression || is_unsettled(first);
}

verdict confirm(verdict const& first, verdict const& second) {
  if (!needs_confirmation(first)) return first;
  verdict v = second;
  bool const sloped = is_unsettled(first);
  std::string const was = sloped ? "unsettled" : "low";
  if (sloped && is_unsettled(second)) {
    v.reasons.push_back(
        {"confirmed", "unsettled in two fresh processes; the first: " + first_sentence(first)});
  } else if (!sloped && second.status == status::regression) {
    v.reasons.push_back(
        {"confirmed", "low in two fresh processes; the first: " + first_sentence(first)});
  } else if (is_fine(second)) {
    v.unstable = true;
    v.reasons.insert(v.reasons.begin(),
                     {"unstable", was + " once and fine in a fresh process; the first: " +
                                      first_sentence(first)});
    if (v.next_step.empty())
      v.next_step =
          "Watch this device: if it is unstable again, look for what shares it or for a "
          "fault that comes and goes.";
  } else {
    v.reasons.push_back(
        {"not-confirmed", "the first attempt was " + was + ": " + first_sentence(first)});
    // Something was seen; a second attempt that judges nothing must not turn it into a skip, and
    // one that is low alone is low once.
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
