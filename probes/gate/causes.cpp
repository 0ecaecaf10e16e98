// SPDX-License-Identifier: Apache-2.0
#include "gate/causes.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gate/judge.hpp"
#include "gate/looks.hpp"

namespace bandgate {
namespace {

using state = finding::state;

/// A cause that covered less of the sampling explains little of a loss.
constexpr double little = 0.1;

std::optional<cause> concluded(cause_rule const& rule, finding found) {
  if (found.is != state::found) return std::nullopt;
  return cause{&rule,
               {rule.code, fmt::format(fmt::runtime(rule.sentence), found.detail, found.source)},
               found.share};
}

/// By the place of the rule's group in the table.
std::ptrdiff_t group_of(cause const& found) {
  auto const table = cause_rules();
  auto const first = std::find_if(table.begin(), table.end(), [&](cause_rule const& rule) {
    return std::string_view(rule.checks) == found.rule->checks;
  });
  return first - table.begin();
}

auto rank_of(cause const& found) {
  // One look at the bits says nothing of how long: after those that a counter saw for most of it.
  double const share = found.share.value_or(little);
  return std::tuple(share < little, group_of(found), -share, found.rule);
}

std::string joined(std::vector<std::string> const& words) {
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

std::string source_text(std::string const& source) {
  constexpr std::size_t most = 100;
  if (source.empty()) return "none";
  if (source.size() <= most) return source;
  auto end = most;  // never in the middle of a character
  while (end > 0 && (static_cast<unsigned char>(source[end]) & 0xc0) == 0x80) --end;
  return source.substr(0, end) + "…";
}

bool contains(std::vector<std::string> const& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

evidence evidence_of(result const& measured, expectations const& expected) {
  return {measured.device, measured.health, &measured, expected};
}

std::optional<cause> find_contention(result const& measured) {
  for (auto const& rule : cause_rules())
    if (rule.look == look::active_process) return concluded(rule, computing_beside(measured));
  return std::nullopt;
}

std::vector<cause> find_causes(evidence const& known) {
  std::vector<cause> all;
  for (auto const& rule : cause_rules()) {
    if (rule.last_resort) continue;
    if (auto found = concluded(rule, rule.look(known))) all.push_back(*std::move(found));
  }
  std::sort(all.begin(), all.end(),
            [](cause const& a, cause const& b) { return rank_of(a) < rank_of(b); });
  return all;
}

std::optional<cause> find_last_resort(evidence const& known) {
  for (auto const& rule : cause_rules()) {
    if (!rule.last_resort) continue;
    if (auto found = concluded(rule, rule.look(known))) return found;
  }
  return std::nullopt;
}

looked_groups groups_of(evidence const& known) {
  looked_groups all;
  for (auto const& rule : cause_rules()) {
    if (rule.last_resort) continue;
    auto const is = rule.look(known).is;
    if (is == state::irrelevant) continue;
    auto& list = is == state::unknown ? all.unread : all.read;
    if (!contains(list, rule.checks)) list.emplace_back(rule.checks);
  }
  // A card has never every field of a group: one that was read is a look at it.
  std::erase_if(all.unread, [&](std::string const& group) { return contains(all.read, group); });
  return all;
}

reason no_cause(evidence const& known) {
  auto const [checked, unread] = groups_of(known);
  return {
      "no-cause-found",
      fmt::format("no cause found; looked at and in order: {}; could not be read: {} (health: {})",
                  joined(checked), joined(unread), source_text(known.health.source))};
}

std::vector<reason> causes_present(result const& measured) {
  std::vector<reason> all;
  for (auto const& found : find_causes(evidence_of(measured)))
    if (found.rule->throttles && found.share.value_or(1) >= little) all.push_back(found.why);
  return all;
}

}  // namespace bandgate
