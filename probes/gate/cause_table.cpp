// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "gate/causes.hpp"
#include "gate/invalid.hpp"
#include "gate/looks.hpp"

namespace bandgate {
namespace {

constexpr auto note = consequence::note;
constexpr auto costs = consequence::costs_bandwidth;
constexpr auto unusable = consequence::unusable;

constexpr char const* cooling =
    "Check the cooling: fans, air flow, the inlet's temperature, the temperatures under load.";
constexpr char const* power_supply =
    "Check the node's power supply and its power limits (the brake is pulled from outside).";
constexpr char const* reset = "Drain the node, then reset the device: that carries it out.";
constexpr char const* reseat_link =
    "Look at `nvidia-smi nvlink -s`, the fabric manager's log and the kernel log; reseat the card "
    "or its bridge.";

constexpr char const* slower_clocks = "Lower clocks cost bandwidth for as long as they last.";
constexpr char const* limited_clocks = "Clocks that are limited may cost bandwidth.";
constexpr char const* slower_transfers =
    "Transfers between host and device reach only a part of their bandwidth.";
constexpr char const* slower_peers =
    "Transfers between GPUs take other ways, slower ones, or fail.";
constexpr char const* unrepaired =
    "Rows that are known to be bad stay in use; reading them can end a program.";
constexpr char const* shared_device = "What is measured now is not what the device alone can do.";

constexpr std::array<cause_rule, 42> rules{{
    // Only transfers cross the links, so for them nothing is more specific.
    {"pcie-generation", "PCIe link", false, "the PCIe generation {0}", costs, slower_transfers,
     "Reseat the card or its riser and check the slot's setting in the BIOS.",
     look::pcie_generation},
    {"pcie-width", "PCIe link", false, "the PCIe width {0}", costs, slower_transfers,
     "Reseat the card or its riser; look for a slot that shares its lanes.", look::pcie_width},
    {"pcie-replays", "PCIe link", false,
     "the PCIe link sent {0} a second time (replays) during the sampling", costs,
     "Every replay costs time, and many of them come before a link that fails.",
     "Reseat the card, its riser or its cable; if they come back, replace them in turn.",
     look::pcie_replays},
    {"pcie-slot", "PCIe link", false, "the slot reaches PCIe generation {0}", note,
     "Transfers between host and device are as fast as the slot, not as the card.",
     "Use a faster slot, or state the generation under \"expect\" in a baseline file.",
     look::pcie_slot},
    {"far-numa-node", "NUMA node", false, "the transfer used memory far from the GPU: {0}", costs,
     "Transfers cross the link between the sockets, which is slower and shared.",
     "Let the process use the processors and the memory of the GPU's NUMA node (cpuset, "
     "`numactl`).",
     look::far_numa_node},
    {"fabric", "NVLink", false, "the NVLink fabric is not ready: {0}", costs, slower_peers,
     "Look at the fabric manager (`systemctl status nvidia-fabricmanager`) and its log.",
     look::fabric},
    {"nvlink-down", "NVLink", false, "NVLinks are down: {0} are up", costs, slower_peers,
     reseat_link, look::nvlink_down},
    {"nvlink-errors", "NVLink", false, "the NVLinks counted {0} during the sampling", costs,
     "What was lost on a link is sent again, which costs time.", reseat_link, look::nvlink_errors},

    {"hw-thermal", "clock events", true, "the hardware slowed the clocks {0} because of heat{1}",
     costs, slower_clocks, cooling, look::hw_thermal},
    {"power-brake", "clock events", true, "the external power brake slowed the clocks {0}{1}",
     costs, slower_clocks, power_supply, look::power_brake},
    {"hw-slowdown", "clock events", true,
     "the hardware slowed the clocks {0}: heat, power brake or a fast drop of the supply{1}", costs,
     slower_clocks, cooling, look::hw_slowdown},
    {"sw-thermal", "clock events", true, "the driver slowed the clocks {0} because of heat{1}",
     costs, slower_clocks, cooling, look::sw_thermal},
    {"power-cap", "clock events", true, "the power cap slowed the clocks {0}{1}", note,
     "Ordinary under load; it costs bandwidth where the cap is lower than it should be.",
     "Compare the power limit with its default (`nvidia-smi -q -d POWER`, AMD: `amd-smi static "
     "--limit`).",
     look::power_cap},
    {"sync-boost", "clock events", true,
     "sync boost held the clocks at those of the slowest device of its group {0}{1}", note,
     limited_clocks, "Look for the slow device of the sync boost group.", look::sync_boost},
    {"board-limit", "clock events", false, "the board's own limit held the clocks down {0}{1}",
     note, limited_clocks, power_supply, look::board_limit},
    {"reliability-limit", "clock events", false,
     "the limit of a reliable voltage held the clocks down {0}{1}", note, limited_clocks,
     "Nothing to do by itself: it bounds the highest clocks of every card.",
     look::reliability_limit},
    {"application-clocks", "clock events", false,
     "an application clocks setting limits the clocks{1}", note, limited_clocks,
     "Reset the application clocks (`nvidia-smi -rac`) unless they are wanted.",
     look::application_clocks},
    {"display-clocks", "clock events", false, "a display clock setting limits the clocks{1}", note,
     limited_clocks, "Measure with no display attached, or record a baseline with it.",
     look::display_clocks},
    {"unknown-clock-event", "clock events", true,
     "a clock event that this version does not know was active {0}{1}", note, limited_clocks,
     "Look the bit up in the driver's nvml.h (nvmlClocksEventReasons).", look::unknown_clock_event},

    {"gpu-temperature", "temperature limits", true, "the GPU is at {0}", costs, slower_clocks,
     cooling, look::gpu_temperature},
    {"memory-temperature", "temperature limits", true, "the memory is at {0}", costs,
     "Hot memory is refreshed more often and slowed down.", cooling, look::memory_temperature},
    {"power-limit", "power limit", false, "the power limit is below {0}", costs,
     "Under load the clocks fall until the card draws no more than that.",
     "Restore the default power limit, or record a baseline for this setting.", look::power_limit},
    {"memory-clock", "memory clock", false, "the memory clock under load was {0}", costs,
     "The bandwidth of the memory falls as its clock does.",
     "Look for a locked memory clock (`nvidia-smi -rmc` resets it, AMD: `amd-smi reset --clocks`) "
     "or a low performance state.",
     look::memory_clock},

    {"row-remap-failure", "memory repairs", false, "remapping of memory rows has failed", unusable,
     unrepaired, "Replace the card: its spare memory rows are used up.", look::row_remap_failure},
    {"row-remap-pending", "memory repairs", false, "a remapping of memory rows is pending", costs,
     unrepaired, reset, look::row_remap_pending},
    {"page-retirement-pending", "memory repairs", false, "a retirement of memory pages is pending",
     costs, unrepaired, reset, look::page_retirement_pending},
    {"repair-pending", "memory repairs", false, "a repair of the memory or the chip is pending",
     costs, unrepaired, reset, look::repair_pending},
    {"ecc-uncorrected", "ECC", false, "uncorrected ECC errors since the last restart: {0}", costs,
     "Programs were ended or their results are in doubt, and it may happen again.",
     "Read the kernel log (Xid 48, 63, 64, 94, 95), then reset the device with the node drained.",
     look::ecc_uncorrected},
    {"ecc-corrected", "ECC", false, "ECC corrected errors during the sampling: {0}", note,
     "Each one costs little; many of them are memory that is failing.",
     "Watch the counter (`nvidia-smi -q -d ECC`, AMD: `amd-smi metric --ecc`): if it keeps "
     "advancing, reset the device.",
     look::ecc_corrected},
    {"ecc-differs", "ECC", false, "ECC is {0}", costs,
     "Without ECC errors go unnoticed; with it cards that keep it in their memory are slower.",
     "Set ECC as in the baseline, or record a baseline for this setting.", look::ecc_differs},
    {"ecc-pending", "ECC", false, "ECC will be {0} after the next restart", note,
     "The device will then be judged by another baseline.",
     "If that is not wanted, set it back (`nvidia-smi -e`).", look::ecc_pending},
    {"ecc-lifetime", "ECC", false, "uncorrected ECC errors in the card's lifetime: {0}", note,
     "None since the last restart: what was bad has been taken out of use.",
     "Nothing to do; compare it with the card's next failure.", look::ecc_lifetime},

    {"compute-prohibited", "modes", false, "the compute mode is {0}", unusable,
     "No program can compute on the device.", "Set the compute mode: `nvidia-smi -c DEFAULT`.",
     look::compute_prohibited},
    {"mig-without-instances", "modes", false, "MIG is enabled and the card has no slices", unusable,
     "No program can compute on the card.",
     "Make instances (`nvidia-smi mig -cgi … -C`), or disable MIG (`nvidia-smi -mig 0`).",
     look::mig_without_instances},
    {"compute-exclusive", "modes", false, "the compute mode is {0}", note,
     "While one process has the device, a measurement ends as inconclusive.",
     "If that is not wanted, set the compute mode: `nvidia-smi -c DEFAULT`.",
     look::compute_exclusive},
    {"vgpu", "modes", false, "the device is virtual ({0})", note,
     "Other guests may use the same card, unseen from here.",
     "Record a baseline on the virtual device, or measure on the card's host.", look::vgpu},
    {"persistence-off", "modes", false, "persistence mode is off", note,
     "The driver starts anew with every first process: seconds, and counters that start at 0.",
     "Enable it: `nvidia-smi -pm 1`, or the nvidia-persistenced service.", look::persistence_off},

    {"contended", "other processes", false, "another process computes on the device: {0}", note,
     shared_device, contended_step, look::active_process},
    {"busy", "other processes", false,
     "the device is in use and no process is visible: utilization {0}", note, shared_device,
     "Look for the process from the host (`nvidia-smi`, AMD: `amd-smi process`), outside of this "
     "container.",
     look::busy_at_rest},
    {"mps-server", "other processes", false, "an MPS server holds the device: {0}", note,
     "Whatever its clients do shares the device.",
     "Nothing to do while it has no clients; else measure again without it.", look::mps_server},
    {"other-process", "other processes", false, "another process holds the device, idle: {0}", note,
     "It holds memory, and it may begin to compute.", "End the other process and measure again.",
     look::idle_process},

    {"expected-platform", "platform", false, "{0}", note,
     "A device that is as it should be is judged by what another platform reaches.",
     "Record an entry for this platform (`bandgate baseline record`).", look::expected_platform,
     true},
}};

}  // namespace

std::span<cause_rule const> cause_rules() {
  return rules;
}

}  // namespace bandgate
