// SPDX-License-Identifier: Apache-2.0
#include "cli/since.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/print.hpp"
#include "records/result_json.hpp"

namespace bandgate::cli {
namespace {

bool same(device_identity const& a, device_identity const& b) {
  if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid;
  return !a.pci_address.empty() && a.pci_address == b.pci_address;
}

bool is_among(std::vector<device_identity> const& all, device_identity const& one) {
  return std::any_of(all.begin(), all.end(), [&](auto const& other) { return same(other, one); });
}

/// Why no difference of counters of these two moments means anything; empty where one does.
std::string not_one_span(mark const& then, mark const& now) {
  if (then.backend != now.backend) return fmt::format("the mark is of backend {}", then.backend);
  if (then.host != now.host) return fmt::format("the mark is of another machine, {}", then.host);
  if (then.boot_id != now.boot_id)
    return "the machine was started again since the mark, and its counters began anew";
  if (now.uptime_s < then.uptime_s) return "the mark is from the future";
  return "";
}

compared changes_of(examined const& one, mark const& then, mark const& now,
                    std::string const& no_span) {
  compared c{one.id, one.device, {}, {}, no_span};
  if (!one.lost.empty()) {
    c.gone = "does not answer: " + one.lost;
    return c;
  }
  auto const before = std::find_if(then.devices.begin(), then.devices.end(),
                                   [&](auto const& d) { return same(d.identity, one.device); });
  if (!no_span.empty()) return c;
  if (before == then.devices.end()) {
    c.untold = "it is not in the mark";
    return c;
  }
  for (auto const* seen : {&before->health, &one.health})
    if (seen->source.starts_with("none")) c.untold = "health " + seen->source;
  if (!c.untold.empty()) return c;
  c.changes = changes_between(before->health.idle, one.health.idle, now.uptime_s - then.uptime_s);
  if (c.changes.not_comparable)
    c.untold = *c.changes.not_comparable;
  else if (c.changes.compared == 0)
    c.untold = "no counter could be read";
  return c;
}

}  // namespace

std::vector<compared> compare_with_mark(mark const& then, mark const& now,
                                        std::vector<examined> const& chosen,
                                        std::vector<device_identity> const& all) {
  auto const no_span = not_one_span(then, now);
  std::vector<compared> found;
  for (auto const& one : chosen) found.push_back(changes_of(one, then, now, no_span));
  if (no_span.empty() || then.host == now.host)
    for (auto const& d : then.devices)
      if (!is_among(all, d.identity) && then.backend == now.backend)
        found.push_back({"", d.identity, {}, "was there at the mark and is not listed now", {}});
  return found;
}

status status_of(compared const& one) {
  if (!one.gone.empty()) return status::error;
  auto const& found = one.changes.found;
  if (std::any_of(found.begin(), found.end(), [](auto const& f) { return f.harmful; }))
    return status::regression;
  return one.untold.empty() ? status::pass : status::inconclusive;
}

std::string headline(compared const& one) {
  if (!one.gone.empty()) return one.gone;
  std::string harm;
  for (auto const& f : one.changes.found)
    if (f.harmful) harm += (harm.empty() ? "" : "; ") + f.what;
  if (!harm.empty()) return harm;
  return one.untold.empty() ? "nothing happened" : "cannot tell: " + one.untold;
}

std::string since_text(compared const& one) {
  auto const who = fmt::format("{}{}{}", one.id.empty() ? "gone" : one.id,
                               one.device.name.empty() ? "" : "  " + plain(one.device.name),
                               one.device.uuid.empty() ? "" : "  " + plain(one.device.uuid));
  auto text = fmt::format("{}: {}\n", who, plain(headline(one)));
  for (auto const& f : one.changes.found) {
    text += fmt::format("  {:<4}  {}: {}\n", f.harmful ? "HARM" : "NOTE", f.code, plain(f.what));
    if (!f.remedy.empty()) text += fmt::format("    remedy: {}\n", plain(f.remedy));
  }
  if (!one.changes.unread.empty())
    text += fmt::format("  not read: {}\n",
                        plain(fmt::format("{}", fmt::join(one.changes.unread, ", "))));
  return text;
}

nlohmann::ordered_json since_json(compared const& one) {
  nlohmann::ordered_json found = nlohmann::ordered_json::array();
  for (auto const& f : one.changes.found)
    found.push_back(
        {{"code", f.code}, {"what", f.what}, {"remedy", f.remedy}, {"harmful", f.harmful}});
  auto const or_null = [](std::string const& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  return {{"id", or_null(one.id)},
          {"status", to_string(status_of(one))},
          {"gone", or_null(one.gone)},
          {"untold", or_null(one.untold)},
          {"changes", std::move(found)},
          {"not_read", one.changes.unread},
          {"device", device_to_json(one.device)}};
}

}  // namespace bandgate::cli
