// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <bandgate/result.hpp>

namespace bandgate {

/// Whether what was measured crossed the link between host and device; a transfer between two GPUs
/// need not.
bool crosses_host_link(result const& measured);

/// Bytes per second that a PCIe link of that generation and so many lanes carries in one direction;
/// none for numbers that are no such link.
std::optional<double> pcie_peak(double generation, double lanes);

}  // namespace bandgate
