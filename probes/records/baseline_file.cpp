// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "records/baseline_entry.hpp"
#include "records/baseline_match.hpp"
#include "records/baseline_place.hpp"
#include "records/baselines.hpp"
#include "records/schema.hpp"
#include "records/text.hpp"

namespace bandgate {
namespace {

/// Far above any real baseline; what is larger is some other file.
constexpr std::uintmax_t largest_file = std::uintmax_t{4} << 20;

std::string read_pci_id(place const& at) {
  auto const text = at.text();
  bool good = text.size() == 9 && text[4] == ':';
  for (std::size_t i = 0; good && i < text.size(); ++i)
    good = i == 4 || (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
  if (!good)
    at.refuse(shortened(at.value()) + " is not a PCI id",
              "write vendor:device in lower-case hexadecimal, such as \"10de:2335\"");
  return text;
}

baseline_key read_key(place const& at) {
  at.must_be_object({"pci_device", "pci_subsystem", "board_part"});
  baseline_key key;
  key.pci_device = read_pci_id(at / "pci_device");
  if (at.has("pci_subsystem")) key.pci_subsystem = read_pci_id(at / "pci_subsystem");
  if (!at.has("board_part")) return key;
  key.board_part = (at / "board_part").text();
  if (key.pci_subsystem.empty())
    at.refuse("a board part number without its subsystem", "add \"pci_subsystem\"");
  return key;
}

double positive(place const& at) {
  double const value = at.number();
  if (value <= 0) at.refuse(shortened(at.value()) + " is not above 0", "write what the card has");
  return value;
}

std::vector<double> read_memory(place const& at) {
  if (!at.value().is_array()) return {positive(at)};
  std::vector<double> sizes;
  for (std::size_t i = 0; i < at.value().size(); ++i) sizes.push_back(positive(at / i));
  if (sizes.empty()) at.refuse("an empty list fits no card", "write the sizes in GiB, or null");
  return sizes;
}

void read_names(place const& gpu, baseline_file& file) {
  if (gpu.has("match")) {
    auto const at = gpu / "match";
    at.must_be_list();
    for (std::size_t i = 0; i < at.value().size(); ++i) file.match.push_back(read_key(at / i));
  }
  if (gpu.has("aliases")) {
    auto const at = gpu / "aliases";
    at.must_be_list();
    for (std::size_t i = 0; i < at.value().size(); ++i) {
      auto const alias = (at / i).text();
      if (normalized_name(alias).empty())
        (at / i).refuse(shortened((at / i).value()) + " names no device", "remove it");
      file.aliases.push_back(alias);
    }
  }
  bool const names_any = !file.match.empty() || !file.aliases.empty();
  if (file.generic && names_any)
    gpu.refuse("the generic file holds for every model", "leave match and aliases out");
  if (!file.generic && !names_any)
    gpu.refuse("neither match nor aliases name a device", "add one of them");
}

constexpr std::array lane_counts{1, 2, 4, 8, 12, 16, 32};
constexpr int newest_generation = 9;  // so that 40 for 4.0 is noticed
constexpr int most_nvlinks = 64;

unsigned whole(place const& at, int least, int most) {
  auto const& value = at.value();
  if (!value.is_number_integer() || value < least || value > most)
    at.refuse(shortened(value) + " is not a whole number from " + std::to_string(least) + " to " +
                  std::to_string(most),
              "write what the platform has, without quotes, or remove it");
  return value.get<unsigned>();
}

expectations read_expectations(place const& at) {
  at.must_be_object({"ecc", "pcie_generation", "pcie_width", "power_limit_w", "nvlinks"});
  expectations all;
  if (at.states("ecc")) all.ecc = (at / "ecc").one_of({"on", "off"}) == "on";
  if (at.states("pcie_generation"))
    all.pcie_generation = whole(at / "pcie_generation", 1, newest_generation);
  if (at.states("pcie_width")) {
    all.pcie_width = whole(at / "pcie_width", 1, lane_counts.back());
    if (std::find(lane_counts.begin(), lane_counts.end(), static_cast<int>(*all.pcie_width)) ==
        lane_counts.end())
      (at / "pcie_width")
          .refuse(shortened((at / "pcie_width").value()) + " is no width of a PCIe link",
                  "write 1, 2, 4, 8, 12, 16 or 32");
  }
  if (at.states("nvlinks")) all.nvlinks = whole(at / "nvlinks", 0, most_nvlinks);
  if (at.states("power_limit_w")) all.power_limit_w = positive(at / "power_limit_w");
  return all;
}

/// What is said twice must be the same: the one chooses the devices, the other judges them.
void check_ecc(place const& gpu, baseline_file const& file) {
  if (file.ecc && file.expected.ecc && *file.ecc != *file.expected.ecc)
    (gpu / "expect" / "ecc")
        .refuse("contradicts /gpu/ecc", "write the same there, or remove one of them");
}

void read_gpu(place const& gpu, baseline_file& file) {
  gpu.must_be_object(
      {"model", "match", "aliases", "memory_gib", "peak_gb_s", "ecc", "mig", "expect"});
  file.model = (gpu / "model").text();
  read_names(gpu, file);
  if (gpu.states("memory_gib")) file.memory_gib = read_memory(gpu / "memory_gib");
  if (gpu.states("peak_gb_s")) file.peak_gb_s = positive(gpu / "peak_gb_s");
  if (gpu.states("ecc")) file.ecc = (gpu / "ecc").one_of({"on", "off"}) == "on";
  if (gpu.states("mig")) file.mig = (gpu / "mig").text();
  if (!gpu.states("expect")) return;
  if (file.generic) (gpu / "expect").refuse("the generic file speaks of no platform", "remove it");
  file.expected = read_expectations(gpu / "expect");
  check_ecc(gpu, file);
}

bool same_subject(baseline_entry const& a, baseline_entry const& b) {
  // Not by statistic: of a median and a peak entry only the first would ever be applied.
  return a.probe == b.probe && a.parameters == b.parameters && a.card == b.card &&
         a.board_part == b.board_part;
}

void read_entries(place const& at, baseline_file& file, std::vector<probe> const& probes,
                  std::vector<std::string>& warnings) {
  at.must_be_list();
  for (std::size_t i = 0; i < at.value().size(); ++i) {
    auto entry = read_entry(at / i, file, probes, warnings);
    for (auto const& earlier : file.entries)
      if (same_subject(earlier, entry))
        (at / i).refuse(fmt::format("a second entry for {} with the parameters of {}", entry.probe,
                                    earlier.pointer),
                        "remove one of them (parameters left out have the probe's defaults)");
    file.entries.push_back(std::move(entry));
  }
}

/// The name alone decides, so that a copy of the file under another name is no silent catch-all.
bool is_generic(std::string const& origin) {
  auto const name = origin.substr(origin.find_last_of("/:") + 1);
  return name == "_generic.json";
}

}  // namespace

baseline_file parse_baseline(std::string const& text, std::string const& origin,
                             std::vector<probe> const& probes, std::vector<std::string>& warnings) {
  auto const document = parse_strict(text, origin);
  place const root(document, origin);
  root.must_be_object({"schema", "gpu", "entries"});
  (root / "schema").one_of({"bandgate.baseline/1"});
  baseline_file file;
  file.origin = origin;
  file.generic = is_generic(origin);
  read_gpu(root / "gpu", file);
  read_entries(root / "entries", file, probes, warnings);
  // What is checked above says more of the reason; the schema is what every reader agrees on.
  validate(document, "baseline", origin);
  return file;
}

baseline_file read_baseline(std::filesystem::path const& file, std::vector<probe> const& probes,
                            std::vector<std::string>& warnings) {
  return parse_baseline(read_text(file, largest_file), file.string(), probes, warnings);
}

}  // namespace bandgate
