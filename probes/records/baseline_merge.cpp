// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "records/baseline_entry.hpp"
#include "records/baseline_match.hpp"
#include "records/baselines.hpp"
#include "records/significant.hpp"
#include "records/text.hpp"

namespace bandgate {
namespace {

using nlohmann::ordered_json;

ordered_json key_json(device_identity const& device) {
  ordered_json key{{"pci_device", device.pci_device}};
  if (device.pci_subsystem.empty()) return key;
  key["pci_subsystem"] = device.pci_subsystem;
  if (!device.board_part.empty()) key["board_part"] = device.board_part;
  return key;
}

ordered_json new_document(device_identity const& device) {
  ordered_json gpu;
  auto const name = valid_utf8(baseline_name(device));
  gpu["model"] = name;
  gpu["match"] = ordered_json::array();
  if (!device.pci_device.empty()) gpu["match"].push_back(key_json(device));
  gpu["aliases"] = ordered_json::array();
  if (!normalized_name(name).empty()) gpu["aliases"].push_back(name);
  if (device.memory_bytes) gpu["memory_gib"] = significant(in_gib(*device.memory_bytes), 3);
  if (device.peak_bytes_per_second)
    gpu["peak_gb_s"] = significant(*device.peak_bytes_per_second / 1e9, 6);
  gpu["ecc"] = nullptr;
  if (device.ecc) gpu["ecc"] = *device.ecc ? "on" : "off";
  gpu["mig"] = nullptr;
  if (!device.mig_profile.empty()) gpu["mig"] = device.mig_profile;
  return {{"schema", "bandgate.baseline/1"}, {"gpu", gpu}, {"entries", ordered_json::array()}};
}

/// What differs from the defaults, as a person would write it.
ordered_json parameters_json(probe const& what, parameters const& values) {
  auto json = ordered_json::object();
  for (auto const& p : what.parameters) {
    auto const found = values.find(p.name);
    if (found == values.end() || found->second == p.fallback) continue;
    auto const* number = std::get_if<std::uint64_t>(&found->second);
    if (number != nullptr && p.kind != parameter_kind::size)
      json[p.name] = *number;
    else
      json[p.name] = to_string(found->second, p.kind);
  }
  return json;
}

ordered_json provenance_json(provenance const& from) {
  ordered_json json{{"kind", from.kind}};
  auto const add = [&](char const* key, auto const& value) {
    if (!value.empty()) json[key] = value;
  };
  add("source", from.source);
  if (from.cards) json["cards"] = *from.cards;
  if (from.processes) json["processes"] = *from.processes;
  add("driver", from.driver);
  add("date", from.date);
  add("tool", from.tool);
  add("note", from.note);
  return json;
}

ordered_json entry_json(baseline_entry const& entry, probe const& what) {
  ordered_json json{{"probe", entry.probe},
                    {"parameters", parameters_json(what, entry.parameters)},
                    {"statistic", entry.statistic}};
  if (!entry.relative_to.empty())
    json["relative_to"] = entry.relative_to;
  else
    json["unit"] = entry.unit ? std::string(to_string(*entry.unit)) : "peak";
  json["value"] = entry.value;
  json["tolerance"] = {{"lower", entry.lower}, {"upper", nullptr}};
  if (entry.upper) json["tolerance"]["upper"] = *entry.upper;
  if (!entry.card.empty()) json["card"] = entry.card;
  if (!entry.board_part.empty()) json["board_part"] = entry.board_part;
  json["provenance"] = provenance_json(entry.provenance);
  return json;
}

/// Whether entries without a board part speak of another one in this file: they belong to the
/// board that the file began with.
bool began_with_another_board(baseline_file const& file, device_identity const& device) {
  for (auto const& key : file.match)
    if (key.pci_device == device.pci_device && !key.board_part.empty())
      return key.board_part != device.board_part;
  return false;
}

/// The document to add to, with a key for this device in it.
ordered_json open_document(std::string const& existing, baseline_file const& file,
                           device_identity const& device) {
  auto document = ordered_json::parse(existing);
  if (fit(file, device).level != closeness::none) return document;
  auto const model = fit(file, model_of(device));
  if (file.generic || model.level == closeness::none)
    throw usage_error(fmt::format(
        "{}: /gpu: speaks of \"{}\"{}{}, not of this device, \"{}\"; record into another file",
        file.origin, file.model, model.but.empty() ? "" : ", ", model.but, baseline_name(device)));
  if (device.board_part.empty())
    throw usage_error(fmt::format(
        "{}: /gpu/match: has other parts of this model, and the device's board part number is not "
        "known (NVML tells it); record into another folder",
        file.origin));
  document["gpu"]["match"].push_back(key_json(device));
  return document;
}

/// Where that entry stands in the file; its end when it is new.
std::size_t position_of(baseline_file const& file, baseline_entry const& entry) {
  auto const same = [&](baseline_entry const& other) {
    return other.probe == entry.probe && other.parameters == entry.parameters &&
           other.card == entry.card && other.board_part == entry.board_part;
  };
  auto const found = std::find_if(file.entries.begin(), file.entries.end(), same);
  return static_cast<std::size_t>(found - file.entries.begin());
}

/// Names the board part where the file needs it to tell this entry from another board's.
baseline_entry placed(baseline_entry entry, baseline_file const& file,
                      device_identity const& device) {
  if (!entry.card.empty() || !entry.board_part.empty() || device.board_part.empty()) return entry;
  auto labelled = entry;
  labelled.board_part = device.board_part;
  bool const has_its_own = position_of(file, labelled) < file.entries.size();
  return has_its_own || began_with_another_board(file, device) ? labelled : entry;
}

}  // namespace

std::string merge_baseline(std::string const& existing, device_identity const& device,
                           std::vector<baseline_entry> const& entries,
                           std::vector<probe> const& probes) {
  std::vector<std::string> warnings;
  std::string const origin = existing.empty() ? "new baseline" : "existing baseline";
  auto document = new_document(device);
  baseline_file file;
  if (!existing.empty()) {
    file = parse_baseline(existing, origin, probes, warnings);
    document = open_document(existing, file, device);
  }
  for (auto const& given : entries) {
    auto const* what = declared(probes, given.probe);
    if (what == nullptr)
      throw usage_error("unknown probe '" + given.probe + "' cannot be recorded");
    auto const entry = placed(given, file, device);
    auto const at = position_of(file, entry);
    if (at < file.entries.size()) {
      document["entries"][at] = entry_json(entry, *what);
    } else {
      document["entries"].push_back(entry_json(entry, *what));
      file.entries.push_back(entry);
    }
  }
  auto const text = document.dump(2) + "\n";
  parse_baseline(text, origin, probes, warnings);
  return text;
}

}  // namespace bandgate
