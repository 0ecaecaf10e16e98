// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device/cgroup.hpp"
#include "device/dimm_speed.hpp"
#include "device/file_text.hpp"
#include "device/identity.hpp"

namespace bandgate {
namespace {

using std::filesystem::path;

/// "cpu12" as 12; none for "cpufreq".
std::optional<unsigned> number_after(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return std::nullopt;
  auto const number = parse_number(name.substr(stem.size()));
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return static_cast<unsigned>(*number);
}

/// x86 and most others name the model; ARM gives the numbers of maker and part.
std::string cpu_model(std::string const& cpuinfo) {
  for (char const* key : {"model name", "cpu model", "cpu", "Processor", "uarch"})
    if (auto const name = value_of(cpuinfo, key); !name.empty()) return one_line(name);
  auto const maker = value_of(cpuinfo, "CPU implementer");
  auto const part = value_of(cpuinfo, "CPU part");
  return maker.empty() || part.empty() ? std::string{}
                                       : "ARM implementer " + maker + " part " + part;
}

std::set<unsigned> all_cpus(path const& root, std::string const& cpuinfo) {
  if (auto const online = parse_cpu_list(read_line(root / "sys/devices/system/cpu/online")))
    if (!online->empty()) return *online;
  std::set<unsigned> cpus;
  for (auto const& line : lines_of(cpuinfo))
    if (line.starts_with("processor"))
      if (auto const number = parse_number(value_of(line, "processor")))
        cpus.insert(static_cast<unsigned>(*number));
  return cpus;
}

/// Those of the affinity mask, which a cpuset narrows too.
std::set<unsigned> allowed_cpus(path const& root, std::string const& cpuinfo) {
  auto const status = read_text(root / "proc/self/status").value_or("");
  auto const allowed = parse_cpu_list(value_of(status, "Cpus_allowed_list"));
  return allowed && !allowed->empty() ? *allowed : all_cpus(root, cpuinfo);
}

std::optional<unsigned> count_or_none(std::size_t count) {
  if (count == 0) return std::nullopt;
  return static_cast<unsigned>(count);
}

std::optional<unsigned> sockets(path const& root, std::string const& cpuinfo) {
  std::set<std::string> packages;
  auto const folder = root / "sys/devices/system/cpu";
  for (auto const& name : names_in(folder))
    if (number_after(name, "cpu"))
      packages.insert(read_line(folder / name / "topology/physical_package_id"));
  packages.erase("");
  packages.erase("-1");
  if (packages.empty())
    for (auto const& line : lines_of(cpuinfo))
      if (line.starts_with("physical id")) packages.insert(value_of(line, "physical id"));
  return count_or_none(packages.size());
}

/// Nodes with processors; memory alone (CXL, the memory of a coherent GPU) makes no place to run.
std::optional<unsigned> numa_nodes(path const& root) {
  auto const folder = root / "sys/devices/system/node";
  auto const nodes = names_in(folder);
  return count_or_none(static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](std::string const& name) {
        auto const cpus = parse_cpu_list(read_line(folder / name / "cpulist"));
        return number_after(name, "node") && cpus && !cpus->empty();
      })));
}

std::optional<unsigned> usable_threads(std::size_t allowed, std::optional<double> quota) {
  auto const threads = count_or_none(allowed);
  if (!threads || !quota) return threads;
  return std::min(*threads, static_cast<unsigned>(std::ceil(std::min(*quota, 1e6))));
}

/// "266240K" or "32M" in bytes.
std::uint64_t cache_size(std::string_view text) {
  if (text.empty()) return 0;
  auto const shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : 0;
  if (shift != 0) text.remove_suffix(1);
  auto const number = parse_number(text);
  return number && *number < (std::uint64_t{1} << 40) ? *number << shift : 0;
}

/// All instances of the last level that our processors use, each counted once: threads on two
/// chiplets have both chiplets' caches.
std::optional<std::uint64_t> last_level_cache(path const& root, std::set<unsigned> const& cpus) {
  std::set<std::string> counted;
  std::uint64_t total{};
  for (unsigned const cpu : cpus) {
    auto const folder = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cache";
    path last;
    std::uint64_t highest{};
    for (auto const& index : names_in(folder)) {
      auto const level = read_number(folder / index / "level").value_or(0);
      if (level <= highest || read_line(folder / index / "type") == "Instruction") continue;
      highest = level;
      last = folder / index;
    }
    if (highest == 0) continue;
    auto const shared = read_line(last / "shared_cpu_list");
    auto const instance =
        std::to_string(highest) + ":" + (shared.empty() ? "only " + std::to_string(cpu) : shared);
    if (counted.insert(instance).second) total += cache_size(read_line(last / "size"));
  }
  if (total > 0) return total;
  // The C library asks the processor itself, so it answers for this machine only.
  if (root != "/") return std::nullopt;
  for (int const name : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (long const size = sysconf(name); size > 0) return static_cast<std::uint64_t>(size);
  return std::nullopt;
}

/// A line of /proc/meminfo, in bytes.
std::optional<std::uint64_t> memory_info(path const& root, std::string_view key) {
  auto const text = value_of(read_text(root / "proc/meminfo").value_or(""), key);
  auto const number = parse_number(text.substr(0, text.find(' ')));
  if (!number || *number >= (std::uint64_t{1} << 50)) return std::nullopt;
  return *number << 10;
}

}  // namespace

device_identity host_identity(path const& root) {
  auto const cpuinfo = read_text(root / "proc/cpuinfo").value_or("");
  auto const limits = read_cgroup_limits(root);
  auto const cpus = allowed_cpus(root, cpuinfo);
  device_identity host;
  host.backend = "host";
  host.cpu_model = cpu_model(cpuinfo);
  host.name = host.cpu_model.empty() ? "CPU" : host.cpu_model;
  host.sockets = sockets(root, cpuinfo);
  host.numa_nodes = numa_nodes(root);
  host.processors = usable_threads(cpus.size(), limits.cpus);
  host.last_level_cache_bytes = last_level_cache(root, cpus);
  host.memory_bytes = memory_info(root, "MemTotal");
  if (limits.memory_bytes)
    host.memory_bytes =
        std::min(host.memory_bytes.value_or(*limits.memory_bytes), *limits.memory_bytes);
  host.dimm_mts =
      configured_dimm_speed(read_text(root / "sys/firmware/dmi/tables/DMI").value_or(""));
  return host;
}

bytes free_host_memory(path const& root) {
  auto const available = memory_info(root, "MemAvailable");
  auto const free = available ? available : memory_info(root, "MemFree");
  auto const room = read_cgroup_limits(root).memory_room;
  return {std::min(free.value_or(0), room.value_or(UINT64_MAX))};
}

}  // namespace bandgate
