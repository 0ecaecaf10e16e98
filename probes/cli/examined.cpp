// SPDX-License-Identifier: Apache-2.0
#include "cli/examined.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/print.hpp"
#include "records/result_json.hpp"

namespace bandgate::cli {
namespace {

template <class T>
std::optional<T> read(health_snapshot const& from, char const* name) {
  auto const found = from.find(name);
  if (found == from.end() || found->second.status != health_field::state::ok) return std::nullopt;
  auto const* value = std::get_if<T>(&found->second.value);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

bool has_library(health const& seen) {
  return !seen.source.empty() && !seen.source.starts_with("none");
}

/// A library that answers nothing shows no more than none.
bool was_seen(health const& seen) {
  return has_library(seen) && std::any_of(seen.idle.begin(), seen.idle.end(), [](auto const& f) {
           return f.second.status == health_field::state::ok;
         });
}

char const* word_for(consequence weight) {
  switch (weight) {
    case consequence::note:
      return "NOTE";
    case consequence::costs_bandwidth:
      return "COSTS BANDWIDTH";
    case consequence::unusable:
      return "UNUSABLE";
  }
  return "?";
}

/// "78 of 700 W", or what there is of it.
std::string power_text(health_snapshot const& now) {
  auto const used = read<double>(now, "power_w");
  auto const limit = read<double>(now, "power_limit_w");
  if (used && limit) return fmt::format("{:.0f} of {:.0f} W", *used, *limit);
  if (used) return fmt::format("{:.0f} W", *used);
  return limit ? fmt::format("limit {:.0f} W", *limit) : "";
}

std::string link_text(health_snapshot const& now) {
  auto const width = read<double>(now, "pcie_width");
  auto const generation = read<double>(now, "pcie_generation_max");
  if (generation && width) return fmt::format("PCIe {:g} x{:g}", *generation, *width);
  return width ? fmt::format("PCIe x{:g}", *width) : "";
}

std::string heading(examined const& one) {
  auto const& d = one.device;
  std::string text = one.id;
  for (auto const& part : {d.name, d.uuid, d.pci_address})
    if (!part.empty()) text += "  " + plain(part);
  if (!d.board_part.empty()) text += "  board " + plain(d.board_part);
  return text;
}

std::string unread_text(examined const& one) {
  if (one.diagnosis.unread.empty()) return "";
  return fmt::format("  not read: {}{}\n",
                     plain(fmt::format("{}", fmt::join(one.diagnosis.unread, ", "))),
                     has_library(one.health) ? "" : " (" + plain(one.health.source) + ")");
}

}  // namespace

condition condition_of(examined const& one) {
  if (!one.lost.empty()) return condition::unusable;
  auto worst = was_seen(one.health) ? condition::clean : condition::unknown;
  for (auto const& found : one.diagnosis.found) {
    if (found.weight == consequence::unusable) worst = condition::unusable;
    if (found.weight == consequence::costs_bandwidth) worst = std::max(worst, condition::degraded);
  }
  return worst;
}

char const* to_string(condition is) {
  switch (is) {
    case condition::clean:
      return "clean";
    case condition::unknown:
      return "unknown";
    case condition::degraded:
      return "degraded";
    case condition::unusable:
      return "unusable";
  }
  return "?";
}

status status_of(condition is) {
  switch (is) {
    case condition::clean:
      return status::pass;
    case condition::unknown:
      return status::inconclusive;
    case condition::degraded:
      return status::regression;
    case condition::unusable:
      return status::error;
  }
  return status::error;
}

std::string state_text(examined const& one) {
  auto const& now = one.health.idle;
  std::vector<std::string> parts;
  auto const add = [&](std::string text) {
    if (!text.empty()) parts.push_back(std::move(text));
  };
  if (auto const t = read<double>(now, "temperature_c")) add(fmt::format("{:g} C", *t));
  add(power_text(now));
  if (auto const m = read<double>(now, "memory_clock_max_mhz"))
    add(fmt::format("memory {:g} MHz", *m));
  add(link_text(now));
  if (auto const ecc = read<bool>(now, "ecc_enabled")) add(*ecc ? "ECC on" : "ECC off");
  auto const links = read<double>(now, "nvlink_links");
  auto const up = read<double>(now, "nvlink_active");
  bool const amd = one.device.pci_device.starts_with("1002:");
  if (links && up && *links > 0)
    add(fmt::format("{:g} of {:g} {} up", *up, *links, amd ? "xGMI links" : "NVLinks"));
  if (parts.empty()) return "nothing could be read";
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string headline(examined const& one) {
  if (!one.lost.empty()) return "does not answer: " + one.lost;
  std::string text;
  for (auto const& found : one.diagnosis.found)
    if (found.weight != consequence::note)
      text += (text.empty() ? "" : "; ") + found.code + ": " + found.what;
  if (!text.empty()) return text;
  if (!has_library(one.health)) return "not examined: health " + one.health.source;
  if (!was_seen(one.health)) return "not examined: nothing could be read";
  return state_text(one);
}

std::string next_step(examined const& one) {
  auto const& found = one.diagnosis.found;
  if (found.empty() || found.front().weight == consequence::note) return "";
  return found.front().remedy;
}

std::string doctor_text(examined const& one) {
  auto text = fmt::format("{}\n  {}: ", heading(one), to_string(condition_of(one)));
  if (!one.lost.empty()) return text + fmt::format("does not answer: {}\n", plain(one.lost));
  text += plain(state_text(one)) + "\n";
  for (auto const& found : one.diagnosis.found) {
    text +=
        fmt::format("  {:<15}  {}: {}\n", word_for(found.weight), found.code, plain(found.what));
    if (!found.effect.empty()) text += fmt::format("    effect: {}\n", plain(found.effect));
    if (!found.remedy.empty()) text += fmt::format("    remedy: {}\n", plain(found.remedy));
  }
  return text + unread_text(one);
}

nlohmann::ordered_json doctor_json(examined const& one) {
  nlohmann::ordered_json found = nlohmann::ordered_json::array();
  for (auto const& f : one.diagnosis.found)
    found.push_back({{"code", f.code},
                     {"weight", bandgate::to_string(f.weight)},
                     {"what", f.what},
                     {"effect", f.effect},
                     {"remedy", f.remedy}});
  return {{"id", one.id},
          {"condition", to_string(condition_of(one))},
          {"lost", one.lost.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(one.lost)},
          {"findings", std::move(found)},
          {"looked_at", one.diagnosis.looked_at},
          {"not_read", one.diagnosis.unread},
          {"device", device_to_json(one.device)},
          {"health", health_to_json(one.health)}};
}

}  // namespace bandgate::cli
