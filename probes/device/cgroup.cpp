// SPDX-License-Identifier: Apache-2.0
#include "device/cgroup.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "device/file_text.hpp"

namespace bandgate {
namespace {

using std::filesystem::path;

template <class T>
void lower_to(std::optional<T>& least, T value) {
  least = least ? std::min(*least, value) : value;
}

/// A group's folder and all above it, up to the hierarchy's own. Inside a container the path that
/// /proc names is often the host's and not mounted here: then only the top is left, which is ours.
std::vector<path> upwards(path const& hierarchy, std::string const& group) {
  std::vector<path> folders;
  for (auto part = path(group).relative_path(); !part.empty(); part = part.parent_path())
    folders.push_back(hierarchy / part);
  folders.push_back(hierarchy);
  return folders;
}

std::uint64_t statistic(path const& file, std::string_view key) {
  for (auto const& line : lines_of(read_text(file).value_or("")))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return parse_number(std::string_view(line).substr(key.size() + 1)).value_or(0);
  return 0;
}

struct memory_files {
  char const *limit, *in_use, *reclaimable;
};
constexpr memory_files memory_v1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                                 "total_inactive_file"};
constexpr memory_files memory_v2{"memory.max", "memory.current", "inactive_file"};

/// Version 1 writes "none" as the largest number of whole pages.
constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;

/// Cached file pages count as in use, yet the kernel gives them up before it refuses memory.
void add_memory(cgroup_limits& limits, path const& folder, memory_files const& files) {
  auto const limit = read_number(folder / files.limit);
  if (!limit || *limit >= no_limit) return;
  lower_to(limits.memory_bytes, *limit);
  auto const in_use = read_number(folder / files.in_use);
  if (!in_use) return;
  auto const cached = statistic(folder / "memory.stat", files.reclaimable);
  auto const held = *in_use - std::min(*in_use, cached);
  lower_to(limits.memory_room, *limit - std::min(*limit, held));
}

void add_quota(cgroup_limits& limits, std::optional<std::uint64_t> quota,
               std::optional<std::uint64_t> period) {
  if (quota && period && *quota > 0 && *period > 0)
    lower_to(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
}

void add_version_2(cgroup_limits& limits, path const& folder) {
  add_memory(limits, folder, memory_v2);
  std::istringstream words(read_line(folder / "cpu.max"));
  std::string quota, period;
  if (words >> quota >> period) add_quota(limits, parse_number(quota), parse_number(period));
}

void add_version_1(cgroup_limits& limits, path const& mounts, std::string const& controllers,
                   std::string const& group) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name != "memory" && name != "cpu") continue;
    for (auto const& mount : {name, controllers})
      for (auto const& folder : upwards(mounts / mount, group)) {
        if (name == "memory") add_memory(limits, folder, memory_v1);
        if (name == "cpu")
          add_quota(limits, read_number(folder / "cpu.cfs_quota_us"),
                    read_number(folder / "cpu.cfs_period_us"));
      }
  }
}

}  // namespace

// A line reads "4:memory:/path" (version 1: hierarchy, controllers, group) or "0::/path".
cgroup_limits read_cgroup_limits(path const& root) {
  cgroup_limits limits;
  auto const mounts = root / "sys/fs/cgroup";
  for (auto const& line : lines_of(read_text(root / "proc/self/cgroup").value_or(""))) {
    auto const first = line.find(':');
    auto const second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    auto const group = line.substr(second + 1);
    if (!controllers.empty()) add_version_1(limits, mounts, controllers, group);
    if (controllers.empty())
      for (auto const& folder : upwards(mounts, group)) add_version_2(limits, folder);
  }
  return limits;
}

}  // namespace bandgate
