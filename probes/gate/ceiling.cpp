// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>

#include "gate/judge.hpp"
#include "gate/link.hpp"

namespace bandgate {
namespace {

/// Bytes per second and direction of one lane, by generation from 1 on, after encoding: transfers
/// per second / 8 x payload share. 8b/10b in generations 1 and 2, 128b/130b in 3 to 5, in 6 the 242
/// bytes of a 256-byte flit that are neither CRC nor error correction (PCI Express Base
/// Specification 6.0, 4.2). Packet headers cost some per cent more, so none of it can be reached.
constexpr std::array lane_peaks{2.5e9 / 8 * 8 / 10,   5e9 / 8 * 8 / 10,     8e9 / 8 * 128 / 130,
                                16e9 / 8 * 128 / 130, 32e9 / 8 * 128 / 130, 64e9 / 8 * 242 / 256};

std::optional<double> under_load(result const& measured, char const* name) {
  auto const found = measured.health.load.find(name);
  if (found == measured.health.load.end() || found->second.status != health_field::state::ok)
    return std::nullopt;
  auto const* value = std::get_if<double>(&found->second.value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// Grace superchips have NVLink-C2C between host and device, beside a PCIe link that says nothing
/// of it.
bool has_chip_link(device_identity const& d) {
  return d.name.find("NVIDIA GH") == 0 || d.name.find("NVIDIA GB") == 0;
}

std::optional<double> link_peak(result const& measured) {
  if (!crosses_host_link(measured) || has_chip_link(measured.device)) return std::nullopt;
  auto const generation = under_load(measured, "pcie_generation");
  auto const lanes = under_load(measured, "pcie_width");
  if (!generation || !lanes) return std::nullopt;
  auto const one_way = pcie_peak(*generation, *lanes);
  if (!one_way) return std::nullopt;
  return *one_way * measured.probe.directions;
}

}  // namespace

bool crosses_host_link(result const& measured) {
  return measured.probe.ceiling == "link" && !measured.probe.parameters.contains(peer_parameter);
}

std::optional<double> pcie_peak(double generation, double lanes) {
  for (std::size_t i = 0; i < lane_peaks.size(); ++i)
    if (generation == static_cast<double>(i + 1) && lanes >= 1 && lanes <= 32)
      return lane_peaks[i] * lanes;
  return std::nullopt;
}

std::optional<double> ceiling_of(result const& measured) {
  if (measured.probe.ceiling == "link") return link_peak(measured);
  if (measured.probe.ceiling != "dram") return std::nullopt;
  auto const& peak = measured.device.peak_bytes_per_second;
  // Some drivers report a memory clock or a bus width of 0: that is no peak, not a peak of 0.
  if (!peak || !std::isfinite(*peak) || *peak <= 0) return std::nullopt;
  return peak;
}

}  // namespace bandgate
