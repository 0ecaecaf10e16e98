// SPDX-License-Identifier: Apache-2.0
#include "device/identity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/dimm_speed.hpp"
#include "device/fake_root.hpp"

namespace bandgate {
namespace {

/// Two sockets, two nodes and one of memory alone, eight threads; caches of two chiplets.
fake_root& lay_out_server(fake_root& root) {
  std::string cpuinfo;
  for (int cpu = 0; cpu < 8; ++cpu) {
    auto const folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
    cpuinfo += "processor\t: " + std::to_string(cpu) +
               "\nmodel name\t: Example(R)   CPU  9000 \t@ 2.3GHz \nphysical id\t: " +
               std::to_string(cpu / 4) + "\n\n";
    root.file(folder + "topology/physical_package_id", std::to_string(cpu / 4) + "\n");
    auto const cache = [&](int index, char const* level, char const* type, char const* size,
                           std::string const& shared) {
      auto const at = folder + "cache/index" + std::to_string(index) + "/";
      root.file(at + "level", level).file(at + "type", type);
      root.file(at + "size", size).file(at + "shared_cpu_list", shared);
    };
    cache(0, "1\n", "Data\n", "48K\n", std::to_string(cpu));
    cache(1, "1\n", "Instruction\n", "32K\n", std::to_string(cpu));
    cache(2, "2\n", "Unified\n", "1024K\n", std::to_string(cpu));
    cache(3, "3\n", "Unified\n", "32M\n", cpu < 4 ? "0-3\n" : "4-7\n");
  }
  root.folder("sys/devices/system/cpu/cpufreq").folder("sys/devices/system/cpu/cpuidle");
  root.file("sys/devices/system/cpu/online", "0-7\n").file("proc/cpuinfo", cpuinfo);
  root.file("sys/devices/system/node/node0/cpulist", "0-3\n");
  root.file("sys/devices/system/node/node1/cpulist", "4-7\n");
  root.file("sys/devices/system/node/node2/cpulist", "\n");
  root.file("sys/devices/system/node/possible", "0-2\n");
  root.file("proc/self/status", "Name:\tbandgate\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
  root.file("proc/meminfo",
            "MemTotal:       67108864 kB\nMemFree:         1048576 kB\n"
            "MemAvailable:   33554432 kB\n");
  return root;
}

TEST(host_identity, describes_a_server) {
  fake_root root;
  auto const host = host_identity(lay_out_server(root).path());
  EXPECT_EQ(host.backend, "host");
  EXPECT_EQ(host.cpu_model, "Example(R) CPU 9000 @ 2.3GHz");
  EXPECT_EQ(host.name, host.cpu_model);
  EXPECT_EQ(host.sockets, 2U);
  EXPECT_EQ(host.numa_nodes, 2U);
  EXPECT_EQ(host.processors, 8U);
  EXPECT_EQ(host.last_level_cache_bytes, 64ULL << 20);
  EXPECT_EQ(host.memory_bytes, 64ULL << 30);
  EXPECT_EQ(host.dimm_mts, std::nullopt);
  EXPECT_EQ(host.peak_bytes_per_second, std::nullopt);
  EXPECT_EQ(host.uuid, "");
}

TEST(host_identity, knows_nothing_of_an_empty_machine) {
  fake_root const root;
  auto const host = host_identity(root.path());
  EXPECT_EQ(host.name, "CPU");
  EXPECT_EQ(host.sockets, std::nullopt);
  EXPECT_EQ(host.numa_nodes, std::nullopt);
  EXPECT_EQ(host.processors, std::nullopt);
  EXPECT_EQ(host.last_level_cache_bytes, std::nullopt);
  EXPECT_EQ(host.memory_bytes, std::nullopt);
  EXPECT_EQ(free_host_memory(root.path()), bytes{0});
}

TEST(host_identity, knows_this_machine) {
  auto const host = host_identity();
  EXPECT_GE(host.processors.value_or(0), 1U);
  EXPECT_GT(host.memory_bytes.value_or(0), 1U << 20);
  EXPECT_GT(free_host_memory(), mib(1));
  EXPECT_LE(free_host_memory().count, host.memory_bytes.value_or(0));
}

TEST(host_identity, counts_the_threads_and_caches_that_it_may_use) {
  fake_root root;
  lay_out_server(root).file("proc/self/status", "Cpus_allowed_list:\t1,3\n");
  auto const host = host_identity(root.path());
  EXPECT_EQ(host.processors, 2U);
  EXPECT_EQ(host.last_level_cache_bytes, 32ULL << 20);
}

TEST(host_identity, names_an_arm_processor_by_its_numbers) {
  fake_root root;
  root.file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
  auto const host = host_identity(root.path());
  EXPECT_EQ(host.cpu_model, "ARM implementer 0x41 part 0xd4f");
  EXPECT_EQ(host.processors, 1U);
}

TEST(host_identity, version_2_limits_of_the_groups_above_hold_too) {
  fake_root root;
  lay_out_server(root).file("proc/self/cgroup", "0::/ci.slice/job\n");
  root.file("sys/fs/cgroup/ci.slice/job/cpu.max", "max 100000\n");
  root.file("sys/fs/cgroup/ci.slice/cpu.max", "150000 100000\n");
  root.file("sys/fs/cgroup/ci.slice/job/memory.max", "8589934592\n");
  root.file("sys/fs/cgroup/ci.slice/job/memory.current", "6442450944\n");
  root.file("sys/fs/cgroup/ci.slice/job/memory.stat",
            "active_file 5\ninactive_file 1073741824\nslab 7\n");
  root.file("sys/fs/cgroup/ci.slice/memory.max", "max\n");
  auto const host = host_identity(root.path());
  EXPECT_EQ(host.processors, 2U);
  EXPECT_EQ(host.memory_bytes, 8ULL << 30);
  EXPECT_EQ(free_host_memory(root.path()), gib(3));  // 8 - (6 - 1)
}

TEST(host_identity, inside_a_container_the_top_group_is_ours) {
  fake_root root;
  lay_out_server(root).file("proc/self/cgroup", "0::/docker/0123abc\n");
  root.file("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(host_identity(root.path()).processors, 3U);
}

TEST(host_identity, version_1_limits) {
  fake_root root;
  lay_out_server(root).file("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n0::/\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  root.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4294967296\n");
  root.file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1073741824\n");
  root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  auto const host = host_identity(root.path());
  EXPECT_EQ(host.processors, 1U);
  EXPECT_EQ(host.memory_bytes, 4ULL << 30);
  EXPECT_EQ(free_host_memory(root.path()), gib(3));
}

TEST(host_identity, no_limit_at_all_is_the_machine) {
  fake_root root;
  lay_out_server(root).file("proc/self/cgroup", "4:memory:/\nnonsense\n");
  root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(host_identity(root.path()).memory_bytes, 64ULL << 30);
  EXPECT_EQ(free_host_memory(root.path()), gib(32));
  root.file("proc/meminfo", "");
  EXPECT_EQ(host_identity(root.path()).memory_bytes, std::nullopt);
}

/// A structure of SMBIOS: type, length, a handle, then bytes set by offset, then no strings.
std::string structure(int type, std::size_t length, std::map<std::size_t, int> const& fields) {
  std::string text(length, '\0');
  text[0] = static_cast<char>(type);
  text[1] = static_cast<char>(length);
  for (auto const& [at, value] : fields) text[at] = static_cast<char>(value);
  return text + std::string(2, '\0');
}

TEST(dimm_speed, is_the_lowest_of_the_filled_slots) {
  auto const bios = std::string("\x00\x06\x00\x00\x01\x02", 6) + std::string("Maker\0 1.0\0\0", 12);
  auto const empty = structure(17, 0x28, {{0x20, 0x40}, {0x21, 0x06}});
  auto const fast = structure(17, 0x28, {{0x0d, 0x40}, {0x20, 0xc0}, {0x21, 0x12}});  // 4800
  auto const slow = structure(17, 0x28, {{0x0d, 0x40}, {0x20, 0x30}, {0x21, 0x11}});  // 4400
  EXPECT_EQ(configured_dimm_speed(bios + empty + slow + fast + structure(127, 4, {})), 4400U);
}

TEST(dimm_speed, beyond_65535_stands_elsewhere) {
  EXPECT_EQ(configured_dimm_speed(structure(
                17, 0x5c, {{0x0d, 0x40}, {0x20, 0xff}, {0x21, 0xff}, {0x58, 0x70}, {0x5a, 1}})),
            65648U);
}

TEST(dimm_speed, is_unknown_where_nothing_says) {
  EXPECT_EQ(configured_dimm_speed(""), std::nullopt);
  EXPECT_EQ(configured_dimm_speed(structure(17, 0x1b, {{0x0d, 0x40}})),
            std::nullopt);  // SMBIOS 2.3
  EXPECT_EQ(configured_dimm_speed(structure(17, 0x28, {{0x0d, 0x40}})), std::nullopt);
  EXPECT_EQ(configured_dimm_speed(std::string("\x11\x02", 2)), std::nullopt);
  EXPECT_EQ(configured_dimm_speed(std::string("\x11\x28\x00\x00\x01", 5)), std::nullopt);
}

TEST(dimm_speed, is_read_from_the_machine) {
  fake_root root;
  root.file("sys/firmware/dmi/tables/DMI",
            structure(17, 0x28, {{0x0d, 0x40}, {0x20, 0xc0}, {0x21, 0x12}}));
  EXPECT_EQ(host_identity(root.path()).dimm_mts, 4800U);
}

TEST(add_sysfs, adds_what_the_bus_knows) {
  fake_root root;
  root.add({.address = "0000:1b:00.0"});
  device_identity device;
  device.pci_address = "00000000:1B:00.0";
  add_sysfs(device, root.path());
  EXPECT_EQ(device.pci_address, "0000:1b:00.0");
  EXPECT_EQ(device.pci_device, "10de:2335");
  EXPECT_EQ(device.pci_subsystem, "10de:18bf");
  EXPECT_EQ(device.numa_node, 1);
}

TEST(add_sysfs, leaves_alone_what_it_does_not_know) {
  fake_root root;
  root.file("sys/bus/pci/devices/0000:1b:00.0/numa_node", "-1\n");
  device_identity device;
  device.pci_address = "0000:1b:00.0";
  device.pci_device = "10de:2335";
  add_sysfs(device, root.path());
  EXPECT_EQ(device.pci_device, "10de:2335");
  EXPECT_EQ(device.numa_node, std::nullopt);
  for (char const* no_address :
       {"", "1b", "../../etc", "0000:1b:00", "0000:zz:00.0", ":.", "::."}) {
    device.pci_address = no_address;
    add_sysfs(device, root.path());
    EXPECT_EQ(device.pci_address, no_address);
  }
}

TEST(peak_bandwidth, is_twice_the_clock_by_the_width) {
  EXPECT_DOUBLE_EQ(peak_bandwidth(3201, 6016).value_or(0), 4814.304e9);
  EXPECT_DOUBLE_EQ(peak_bandwidth(877, 4096).value_or(0), 898.048e9);
}

TEST(peak_bandwidth, is_unknown_where_either_is) {
  EXPECT_EQ(peak_bandwidth(0, 6016), std::nullopt);
  EXPECT_EQ(peak_bandwidth(3201, 0), std::nullopt);
  EXPECT_EQ(peak_bandwidth(-1, 6016), std::nullopt);
  EXPECT_EQ(peak_bandwidth(std::nan(""), 6016), std::nullopt);
  EXPECT_EQ(peak_bandwidth(std::numeric_limits<double>::infinity(), 6016), std::nullopt);
}

}  // namespace
}  // namespace bandgate
