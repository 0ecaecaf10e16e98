// SPDX-License-Identifier: Apache-2.0
#include "backend/scripted/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "backend/scripted/script_json.hpp"
#include "device/contention.hpp"
#include "records/schema.hpp"

namespace bandgate {
namespace {

using nlohmann::json;

constexpr std::uintmax_t largest_script = 16ULL << 20;

[[noreturn]] void refuse(std::string const& origin, std::string const& pointer,
                         std::string const& why) {
  throw usage_error(fmt::format("{}: {}: {}", origin, pointer, why));
}

/// A name with "/" or "~" as a JSON pointer spells it.
std::string child(std::string const& pointer, std::string const& key) {
  return (json::json_pointer(pointer) / key).to_string();
}

probe const& require_known(std::string const& name, std::vector<probe> const& probes,
                           std::string const& origin, std::string const& pointer) {
  std::string known;
  for (auto const& p : probes) {
    if (p.name == name) return p;
    known += p.name + ", ";
  }
  refuse(origin, pointer,
         fmt::format("there is no probe '{}'; write one of {}or \"*\" for those not named", name,
                     known));
}

/// The words "span=1024 dtype=u32" of a key. Throws usage_error for what cannot be part of one.
std::map<std::string, std::string> parameters_of_key(std::istream& words, probe const& what) {
  std::map<std::string, std::string> given;
  for (std::string word; words >> word;) {
    auto const equals = word.find('=');
    if (equals == std::string::npos)
      throw usage_error(fmt::format("'{}' is no parameter; write name=value", word));
    auto const name = word.substr(0, equals);
    for (auto const& p : what.parameters)
      if (p.name == name && !p.keyed)
        throw usage_error(
            fmt::format("'{}' does not tell one case of probe '{}' from another; leave it out",
                        name, what.name));
    if (!given.emplace(name, word.substr(equals + 1)).second)
      throw usage_error(fmt::format("'{}' is there twice; leave one out", name));
  }
  return given;
}

/// The canonical form of a member of `probes`.
std::string key_from(std::string const& text, std::vector<probe> const& probes,
                     std::string const& origin, std::string const& pointer) {
  if (text == "*") return text;
  std::istringstream words(text);
  std::string name;
  words >> name;
  auto const& what = require_known(name, probes, origin, pointer);
  try {
    return scripted_key(what, complete(what.parameters, parameters_of_key(words, what)));
  } catch (usage_error const& e) {
    refuse(origin, pointer, e.what());
  }
}

std::vector<scripted_attempt> attempts_from(json const& list) {
  std::vector<scripted_attempt> attempts;
  for (auto const& entry : list) attempts.push_back(scripted_attempt_from(entry));
  return attempts;
}

scripted_device device_from(json const& j, std::vector<probe> const& probes,
                            std::string const& origin, std::string const& pointer) {
  scripted_device d;
  d.pointer = pointer;
  d.identity = scripted_identity_from(j.at("identity"));
  d.missing = j.value("missing", false);
  d.lost = j.value("lost", "");
  d.hang_at_inspection = j.value("hang_at_inspection", false);
  d.memory_free = {j.value("memory_free_bytes", d.identity.memory_bytes.value())};
  if (d.memory_free.count > *d.identity.memory_bytes)
    refuse(origin, child(pointer, "memory_free_bytes"),
           fmt::format("{} is more than the device's memory, {}", d.memory_free.count,
                       *d.identity.memory_bytes));
  for (auto const& [text, entry] : j.at("probes").items()) {
    auto const place = child(pointer + "/probes", text);
    auto const key = key_from(text, probes, origin, place);
    if (!d.attempts.emplace(key, attempts_from(entry.at("attempts"))).second)
      refuse(origin, place, fmt::format("'{}' is there already, in other words", key));
  }
  d.health = scripted_health_from(j.value("health", json::object()));
  return d;
}

/// An address or a UUID names one device, in a machine as in a script; but the slices of a card are
/// at its address.
void require_distinct(std::vector<scripted_device> const& devices, std::string const& origin,
                      char const* member, std::string device_identity::*value) {
  std::map<std::string, std::string> seen, parents;
  for (auto const& d : devices) {
    auto const [first, is_new] = seen.emplace(d.identity.*value, d.pointer);
    auto const& of = d.identity.mig_parent;
    bool const slices =
        value == &device_identity::pci_address && !of.empty() && of == parents[d.identity.*value];
    parents[d.identity.*value] = of;
    if (!is_new && !slices)
      refuse(origin, d.pointer + "/identity/" + member,
             fmt::format("'{}' is the {} of {} already", first->first, member, first->second));
  }
}

}  // namespace

script read_script(std::filesystem::path const& file, std::vector<probe> const& probes) {
  auto const origin = file.string();
  auto const document = parse_strict(read_text(file, largest_script), origin);
  validate(document, "scripted", origin);
  script s;
  s.origin = origin;
  s.real_pace = document.value("pace", "instant") == "real";
  for (auto const& entry : document.at("devices"))
    s.devices.push_back(
        device_from(entry, probes, origin, fmt::format("/devices/{}", s.devices.size())));
  require_distinct(s.devices, origin, "uuid", &device_identity::uuid);
  require_distinct(s.devices, origin, "pci_address", &device_identity::pci_address);
  std::stable_sort(s.devices.begin(), s.devices.end(), [](auto const& a, auto const& b) {
    return std::pair(a.identity.pci_address, a.identity.mig_parent.empty() ? "" : a.identity.uuid) <
           std::pair(b.identity.pci_address, b.identity.mig_parent.empty() ? "" : b.identity.uuid);
  });
  for (auto const& p : document.value("problems", json::array()))
    s.problems.push_back({p.at("code"), p.at("message"), p.value("usage", false)});
  return s;
}

health scripted_health::at(nanoseconds time) const {
  auto seen = lasting;
  if (utilization_ends && time >= *utilization_ends)
    seen.idle["gpu_utilization_percent"] = {health_field::state::ok, 0.0, {}};
  for (auto const& [what, begins, ends] : processes) {
    if (time < begins || (ends && time >= *ends)) continue;
    seen.processes.push_back(what);
    if (is_mps_server(what)) seen.processes.back().active = false;
  }
  return seen;
}

std::string scripted_key(probe const& what, parameters const& values) {
  auto const text = describe(what.parameters, keyed(what.parameters, values));
  return text.empty() ? what.name : what.name + " " + text;
}

scripted_attempt const* find_attempt(scripted_device const& device, probe const& what,
                                     parameters const& values, unsigned attempt) {
  auto const index = std::max(attempt, 1U) - 1;
  for (auto const& key : {scripted_key(what, values), what.name, std::string("*")})
    if (auto const found = device.attempts.find(key); found != device.attempts.end())
      return &found->second[std::min<std::size_t>(index, found->second.size() - 1)];
  return nullptr;
}

}  // namespace bandgate
