// SPDX-License-Identifier: Apache-2.0
/// A healthy card and its baseline, for tests to change one thing of.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <bandgate/baseline.hpp>
#include <bandgate/result.hpp>

namespace bandgate::examples {

inline constexpr double gibps = 1073741824.0;

inline health_field ok(double value) {
  return {health_field::state::ok, value, {}};
}
inline health_field ok_flag(bool value) {
  return {health_field::state::ok, value, {}};
}

/// Ten samples at that rate, GiB/s.
inline measurement rate(double gib_per_s) {
  measurement m;
  m.median = m.peak = m.p05 = m.p95 = gib_per_s * gibps;
  m.samples.assign(10, m.median);
  m.iterations = 20;
  m.bytes_per_pass = 1ULL << 32;
  m.verified = true;
  return m;
}

inline measurement time_us(double us) {
  measurement m = rate(1);
  m.is_time = true;
  m.median = m.peak = m.p05 = m.p95 = us * 1e-6;
  m.samples.assign(10, m.median);
  return m;
}

inline health healthy() {
  health h;
  h.source = "nvml";
  h.idle = {{"clock_event_reasons", ok(1)}, {"pcie_generation", ok(1)}};
  h.load = {{"clock_event_reasons", ok(0)},       {"memory_clock_mhz", ok(3201)},
            {"memory_clock_max_mhz", ok(3201)},   {"power_limit_w", ok(700)},
            {"power_limit_default_w", ok(700)},   {"pcie_generation", ok(5)},
            {"pcie_generation_max", ok(5)},       {"pcie_width", ok(16)},
            {"pcie_width_max", ok(16)},           {"row_remap_pending", ok_flag(false)},
            {"row_remap_failure", ok_flag(false)}};
  return h;
}

inline result h200(double gib_per_s) {
  result r;
  r.device.backend = "cuda";
  r.device.name = "NVIDIA H200";
  r.device.uuid = "GPU-11111111-2222-3333-4444-555555555555";
  r.device.pci_address = "0000:1b:00.0";
  r.device.peak_bytes_per_second = 4814.3e9;  // 4483.7 GiB/s
  r.device.ecc = true;
  r.probe.name = "read";
  r.probe.version = 1;
  r.probe.ceiling = "dram";
  r.measurement = rate(gib_per_s);
  r.health = healthy();
  return r;
}

/// 4000 GiB/s, -1 % .. +1 %: bounds 3960 and 4040.
inline baseline_entry entry(double gib_per_s = 4000, double lower = -0.01,
                            std::optional<double> upper = 0.01) {
  baseline_entry e;
  e.file = "nvidia-h200.json";
  e.pointer = "/entries/0";
  e.probe = "read";
  e.unit = unit::gib_per_s;
  e.value = gib_per_s;
  e.lower = lower;
  e.upper = upper;
  e.ecc = true;
  e.provenance.kind = "measured";
  return e;
}

inline baseline_entry card_entry(double gib_per_s, double lower = -0.005,
                                 std::optional<double> upper = 0.005) {
  auto e = entry(gib_per_s, lower, upper);
  e.file = "site/nvidia-h200.json";
  e.card = "GPU-11111111-2222-3333-4444-555555555555";
  return e;
}

inline baseline_match model(baseline_entry e = entry()) {
  return {std::move(e), {}, ""};
}
inline baseline_match both(baseline_entry m, baseline_entry c) {
  return {std::move(m), std::move(c), ""};
}

inline std::vector<std::string> codes(verdict const& v) {
  std::vector<std::string> all;
  for (auto const& r : v.reasons) all.push_back(r.code);
  return all;
}

inline std::string sentence(verdict const& v, std::string const& code) {
  for (auto const& r : v.reasons)
    if (r.code == code) return r.sentence;
  return "(no reason " + code + ")";
}

}  // namespace bandgate::examples
