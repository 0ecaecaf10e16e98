// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "records/baseline_match.hpp"
#include "records/baselines.hpp"
#include "records/schema.hpp"

namespace bandgate {
namespace {

constexpr char const* shipped = "the shipped baselines";

std::string file_part(std::string const& origin) {
  return origin.substr(origin.find_last_of("/:") + 1);
}

void refuse_shared_claims(std::vector<baseline_file> const& files) {
  for (std::size_t b = 1; b < files.size(); ++b)
    for (std::size_t a = 0; a < b; ++a)
      if (auto const claim = shared_claim(files[a], files[b]))
        throw usage_error(fmt::format(
            "{}: /gpu: claims {}, as {} of the same folder does; merge the two files, or tell them "
            "apart by memory_gib, ecc or mig",
            files[b].origin, *claim, file_part(files[a].origin)));
}

std::string key_of(device_identity const& device) {
  std::string key;
  auto const add = [&](std::string const& what, std::string const& value) {
    if (!value.empty()) key += (key.empty() ? "" : ", ") + what + value;
  };
  add("PCI device ", device.pci_device);
  add("subsystem ", device.pci_subsystem);
  add("board part ", device.board_part);
  add("name ", "\"" + normalized_name(baseline_name(device)) + "\"");
  if (device.memory_bytes) add("", fmt::format("{:.1f} GiB", in_gib(*device.memory_bytes)));
  if (device.ecc) add("ECC ", *device.ecc ? "on" : "off");
  add("MIG profile ", device.mig_profile);
  return key;
}

struct candidate {
  baseline_file const* file;
  std::size_t folder;
  closeness level;
};

/// Files that fit equally well in one folder: possible only where the device does not know what
/// tells them apart. Neither is its baseline.
void drop_ambiguous(std::vector<candidate>& all, std::vector<std::string>& notes) {
  auto const rivals = [](candidate const& a, candidate const& b) {
    return a.file != b.file && a.folder == b.folder && a.level == b.level;
  };
  std::set<baseline_file const*> dropped;
  for (auto const& a : all)
    for (auto const& b : all)
      if (rivals(a, b) && dropped.insert(a.file).second)
        notes.push_back(fmt::format("{} fits no better than {}", file_part(a.file->origin),
                                    file_part(b.file->origin)));
  std::erase_if(all, [&](candidate const& c) { return dropped.count(c.file) != 0; });
}

/// The generic floors come after every file that knows the model, whichever folder they are in.
bool comes_first(candidate const& a, candidate const& b) {
  bool const a_generic = a.level == closeness::generic;
  bool const b_generic = b.level == closeness::generic;
  if (a_generic != b_generic) return b_generic;
  if (a.folder != b.folder) return a.folder < b.folder;
  return a.level > b.level;
}

std::vector<candidate> candidates_for(device_identity const& device,
                                      std::vector<baseline_file> const& files,
                                      std::vector<std::size_t> const& folder_of,
                                      std::vector<std::string>& notes) {
  std::vector<candidate> all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto const found = fit(files[i], device);
    if (found.level != closeness::none)
      all.push_back({&files[i], folder_of[i], found.level});
    else if (!found.but.empty())
      notes.push_back(file_part(files[i].origin) + " " + found.but);
  }
  drop_ambiguous(all, notes);
  std::stable_sort(all.begin(), all.end(), comes_first);
  return all;
}

/// Each expectation by itself, as the first file that states it does.
expectations expected_by(std::vector<candidate> const& files) {
  expectations all;
  auto const adopt = [](auto& into, auto const& stated) {
    if (!into) into = stated;
  };
  for (auto const& c : files) {
    auto const& stated = c.file->expected;
    adopt(all.ecc, stated.ecc ? stated.ecc : c.file->ecc);
    adopt(all.pcie_generation, stated.pcie_generation);
    adopt(all.pcie_width, stated.pcie_width);
    adopt(all.nvlinks, stated.nvlinks);
    adopt(all.power_limit_w, stated.power_limit_w);
  }
  return all;
}

}  // namespace

std::vector<baseline_file> read_folder(std::filesystem::path const& where,
                                       std::vector<probe> const& probes,
                                       std::vector<std::string>& warnings) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(where, error)) return {read_baseline(where, probes, warnings)};
  std::vector<fs::path> paths;
  auto entry = fs::directory_iterator(where, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".json") paths.push_back(entry->path());
  if (error)
    throw usage_error(
        fmt::format("{}: cannot list the folder: {}; make it readable, or name "
                    "another with --baselines",
                    where.string(), error.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<baseline_file> files;
  for (auto const& path : paths) files.push_back(read_baseline(path, probes, warnings));
  refuse_shared_claims(files);
  return files;
}

baseline_library::baseline_library(std::vector<std::filesystem::path> const& where,
                                   std::vector<probe> const& probes) {
  for (auto const& path : where) add(path.string(), read_folder(path, probes, warnings_));
  std::vector<baseline_file> built_in;
  std::vector<std::string> not_the_users;  // a program of other probes knows few of these entries'
  for (auto const& file : embedded_baselines())
    built_in.push_back(parse_baseline(std::string(file.text), "built-in:" + std::string(file.name),
                                      probes, not_the_users));
  refuse_shared_claims(built_in);
  add(shipped, std::move(built_in));
}

void baseline_library::add(std::string folder, std::vector<baseline_file> files) {
  folders_.push_back(std::move(folder));
  for (auto& file : files) {
    files_.push_back(std::move(file));
    folder_of_.push_back(folders_.size() - 1);
  }
}

baseline_match baseline_library::find(device_identity const& device, probe const& what,
                                      parameters const& values) const {
  auto const wanted = keyed(what.parameters, values);
  std::vector<std::string> notes;
  auto const candidates = candidates_for(device, files_, folder_of_, notes);
  baseline_match match;
  for (auto const& c : candidates) {
    auto const pick = [&](std::string const& card) {
      auto entry = entry_for(*c.file, what.name, wanted, card, device.board_part);
      if (entry && !holds_for(*entry, c.level, device)) entry.reset();
      return entry;
    };
    auto model = pick("");
    if (!model) notes.push_back(file_part(c.file->origin) + " has no such entry");
    if (!match.model) match.model = std::move(model);
    if (!match.card && !device.uuid.empty()) match.card = pick(device.uuid);
  }
  // A site's file that states only what its platform has holds for the entries of others, too.
  auto const expected = expected_by(candidates);
  if (match.model) match.model->expected = expected;
  if (match.card) match.card->expected = expected;
  auto const described = describe(what.parameters, wanted);
  match.looked_in = fmt::format("{} for {}{}{} on {}", fmt::join(folders_, ", "), what.name,
                                described.empty() ? "" : " ", described, key_of(device));
  if (!notes.empty()) match.looked_in += fmt::format(" ({})", fmt::join(notes, "; "));
  return match;
}

std::vector<std::string> baseline_library::relative_to(device_identity const& device,
                                                       probe const& what,
                                                       parameters const& values) const {
  auto const wanted = keyed(what.parameters, values);
  std::vector<std::string> notes, names;
  for (auto const& c : candidates_for(device, files_, folder_of_, notes))
    for (auto const& entry : c.file->entries)
      if (entry.probe == what.name && entry.parameters == wanted && !entry.relative_to.empty() &&
          entry.relative_to != "median" &&
          std::find(names.begin(), names.end(), entry.relative_to) == names.end())
        names.push_back(entry.relative_to);
  return names;
}

expectations baseline_library::expectations_of(device_identity const& device) const {
  std::vector<std::string> notes;
  return expected_by(candidates_for(device, files_, folder_of_, notes));
}

}  // namespace bandgate
