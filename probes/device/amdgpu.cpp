// SPDX-License-Identifier: Apache-2.0
#include "device/amdgpu.hpp"

#include <map>
#include <sstream>

#include "device/file_text.hpp"
#include "device/pci_address.hpp"

namespace bandgate {
namespace {

using std::filesystem::path;

/// "name number" on each line.
std::map<std::string, std::uint64_t> properties_in(path const& file) {
  std::map<std::string, std::uint64_t> all;
  std::istringstream lines(read_text(file).value_or(""));
  std::string name, number;
  while (lines >> name >> number)
    if (auto const value = parse_number(number)) all[name] = *value;
  return all;
}

std::uint64_t value_or_zero(std::map<std::string, std::uint64_t> const& all, char const* name) {
  auto const found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

}  // namespace

bool kfd_present(path const& root) {
  return file_exists(root / "dev/kfd");
}

std::string amdgpu_version(path const& root) {
  if (auto const own = read_line(root / "sys/module/amdgpu/version"); !own.empty()) return own;
  if (!file_exists(root / "sys/module/amdgpu")) return {};
  auto const kernel = read_line(root / "proc/sys/kernel/osrelease");
  return kernel.empty() ? kernel : "Linux " + kernel;
}

std::string amd_partition(std::string const& pci_address, path const& root) {
  auto const device = root / "sys/bus/pci/devices" / pci_address;
  auto const compute = read_line(device / "current_compute_partition");
  auto const memory = read_line(device / "current_memory_partition");
  bool const whole = (compute.empty() || compute == "SPX") && (memory.empty() || memory == "NPS1");
  if (whole) return {};
  return (compute.empty() ? "SPX" : compute) + "/" + (memory.empty() ? "NPS1" : memory);
}

std::optional<std::uint64_t> kfd_last_level_cache(std::string const& pci_address,
                                                  path const& root) {
  auto const at = parse_pci_address(pci_address);
  if (!at) return std::nullopt;
  auto const nodes = root / "sys/class/kfd/kfd/topology/nodes";
  std::uint64_t last_level = 0;
  std::uint64_t kib = 0;
  for (auto const& name : names_in(nodes)) {
    auto const node = properties_in(nodes / name / "properties");
    // A partition's number is in the bits of the function.
    if (value_or_zero(node, "domain") != at->domain || !node.contains("location_id") ||
        node.at("location_id") >> 3U != (at->bus << 5U | at->device))
      continue;
    for (auto const& cache : names_in(nodes / name / "caches")) {
      auto const one = properties_in(nodes / name / "caches" / cache / "properties");
      auto const level = value_or_zero(one, "level");
      auto const size = value_or_zero(one, "size");
      if (size == 0 || level < 2 || level < last_level) continue;
      kib = level > last_level ? size : std::max(kib, size);
      last_level = level;
    }
  }
  if (kib == 0) return std::nullopt;
  return kib * 1024;
}

}  // namespace bandgate
