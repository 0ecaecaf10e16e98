// SPDX-License-Identifier: Apache-2.0
/// Probes, devices and files that the tests of baselines share.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "records/baselines.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate::testing {

inline probe make_probe(std::string name, std::vector<parameter> parameters = {}) {
  probe p;
  p.name = std::move(name);
  p.parameters = std::move(parameters);
  return p;
}

inline std::vector<probe> probes() {
  parameter const size{"size", parameter_kind::size, std::string("auto"), "", {}, 1024};
  parameter const window{"window", parameter_kind::size, std::uint64_t{64} << 20, "", {}, 1024};
  parameter const stride{"stride", parameter_kind::count, std::uint64_t{1}, ""};
  parameter const dtype{"dtype", parameter_kind::choice, std::string("u32"), "", {"u32", "f64"}};
  std::vector<probe> all{make_probe("read", {size}),
                         make_probe("write", {size}),
                         make_probe("copy", {size}),
                         make_probe("read_seq", {size}),
                         make_probe("triad", {size}),
                         make_probe("memcpy_d2d", {size}),
                         make_probe("memset", {size}),
                         make_probe("read_unroll", {size}),
                         make_probe("sustained"),
                         make_probe("read_map"),
                         make_probe("read_window", {window, stride, dtype})};
  for (auto& p : all) {
    if (p.name == "sustained") p.procedure = procedure::series;
    if (p.name == "read_map") p.procedure = procedure::slices;
  }
  auto launch = make_probe("launch");
  launch.direction = direction::lower_is_better;
  launch.ceiling = ceiling::none;
  all.push_back(launch);
  auto l2_read = make_probe("l2_read");
  l2_read.ceiling = ceiling::none;
  all.push_back(l2_read);
  return all;
}

inline probe const& probe_named(std::string const& name) {
  static auto const all = probes();
  for (auto const& p : all)
    if (p.name == name) return p;
  throw std::logic_error("no probe " + name);
}

inline device_identity h200() {
  device_identity d;
  d.backend = "scripted";
  d.name = "NVIDIA H200";
  d.uuid = "GPU-11111111-2222-3333-4444-555555555555";
  d.pci_device = "10de:2335";
  d.pci_subsystem = "10de:18bf";
  d.board_part = "692-2G520-0282-001";
  d.memory_bytes = std::uint64_t{143771} << 20;
  d.peak_bytes_per_second = 4814.3e9;
  d.ecc = true;
  return d;
}

inline device_identity host(unsigned threads) {
  device_identity d;
  d.backend = "host";
  d.name = "Intel(R) Xeon(R) Processor";
  d.processors = threads;
  d.memory_bytes = std::uint64_t{8} << 30;
  return d;
}

/// An entry in JSON, of the probe `read` if not told otherwise.
inline std::string entry(double value, std::string const& more = "",
                         std::string const& probe = "read") {
  return R"({"probe": ")" + probe + R"(", "unit": "GiB/s", "value": )" + std::to_string(value) +
         R"(, "tolerance": {"lower": -0.01, "upper": 0.01}, "provenance": {"kind": "measured"})" +
         (more.empty() ? "" : ", ") + more + "}";
}

/// A file in JSON: `gpu` is the content of that section after the model, `entries` that of the
/// list.
inline std::string file(std::string const& gpu, std::string const& entries) {
  return R"({"schema": "bandgate.baseline/1", "gpu": {"model": "a model", )" + gpu +
         R"(}, "entries": [)" + entries + "]}";
}

class in_a_folder : public ::testing::Test {
 protected:
  std::filesystem::path write(std::filesystem::path const& name, std::string const& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    return temporary_.write(name.string(), text);
  }
  temporary_folder const temporary_;
  std::filesystem::path const folder_{temporary_.path()};
};

/// Values in GiB/s by card.
inline recorded_probe seen(std::vector<std::vector<double>> medians,
                           std::string const& name = "read") {
  auto const& what = probe_named(name);
  double const base = what.direction == direction::lower_is_better ? 1e-6 : 1073741824.0;
  recorded_probe all{&what, complete(what.parameters, {}), {}, {}};
  for (auto const& of_card : medians) {
    all.cards.push_back("GPU-" + std::to_string(all.cards.size()));
    all.medians_by_card.emplace_back();
    for (double const value : of_card) all.medians_by_card.back().push_back(value * base);
  }
  return all;
}

inline provenance today() {
  provenance from;
  from.driver = "580.159.04";
  from.date = "2026-11-29";
  from.tool = "0.1.0";
  return from;
}

inline baseline_entry recorded(double value, std::string const& name = "read") {
  return make_entry(seen({{value, value}}, name), std::nullopt, today());
}

}  // namespace bandgate::testing
