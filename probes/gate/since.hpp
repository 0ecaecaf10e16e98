// SPDX-License-Identifier: Apache-2.0
/// What a device's counters did while nobody measured: before a job and after it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

namespace bandgate {

struct counter_change {
  std::string code;    ///< as the causes' codes: "hw-thermal", "pcie-replays"
  std::string what;    ///< "412 s of hardware thermal slowdown (34 % of 1200 s)", "3 PCIe replays"
  std::string remedy;  ///< one sentence
  bool harmful{};      ///< false: ordinary under load, such as the power cap
};

struct changes {
  std::vector<counter_change> found;  ///< harmful ones first, then in the order of the table
  std::vector<std::string> unread;    ///< counters that one of the looks could not read
  std::size_t compared{};             ///< counters that both looks read; 0: nothing can be said
  std::optional<std::string> not_comparable;  ///< one sentence; then nothing is found
};

/// What the counters did between two looks `span_s` seconds apart. Durations under 1 % of the span
/// are left out. A counter that went backwards means that the driver was restarted in between, or
/// the device reset: the two looks are then not comparable.
changes changes_between(health_snapshot const& before, health_snapshot const& after, double span_s);

}  // namespace bandgate
