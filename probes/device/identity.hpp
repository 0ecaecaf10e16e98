// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <bandgate/result.hpp>

namespace bandgate {

/// The CPU as a device: model, sockets, NUMA nodes, hardware threads that this process may use
/// (affinity, cgroup), last-level cache, memory, DIMM speed where readable.
device_identity host_identity(std::filesystem::path const& root = "/");

/// Memory that a process may still take: the least of MemAvailable and the cgroup's room.
bytes free_host_memory(std::filesystem::path const& root = "/");

/// Adds what sysfs knows of the PCI device at identity.pci_address: ids, subsystem, NUMA node.
void add_sysfs(device_identity& identity, std::filesystem::path const& root = "/");

/// Host, node name, boot id, kernel, BIOS, product, container, scheduler, CI: from /proc, /sys and
/// the given environment. Leaves id, group_id, started, attempt, labels, tool alone.
void add_environment(run_info& run, std::map<std::string, std::string> const& environment,
                     std::filesystem::path const& root = "/");

/// Peak of a memory bus: clock x transfers a clock x width / 8. None when one is 0 (some drivers
/// report that).
std::optional<double> peak_bandwidth(double clock_mhz, unsigned bus_width_bits,
                                     unsigned transfers_per_clock = 2);

}  // namespace bandgate
