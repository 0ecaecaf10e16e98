// SPDX-License-Identifier: Apache-2.0
/// What people read. Pure: values to text.
#pragma once

#include <string>
#include <vector>

#include <bandgate/result.hpp>
#include <bandgate/units.hpp>

#include "runner/check.hpp"

namespace bandgate::cli {

/// "4302.5 GiB/s", or "4.213 us" for a time.
std::string value_text(double base_value, bool is_time, unit u);

/// One line for a pass; for anything else three: number and bound, cause, next step.
std::string verdict_text(checked const& pair, unit u);

/// One line for a measurement that nobody judged.
std::string measurement_text(checked const& pair, unit u);

/// CTest's measurement lines, preceded by nothing: they are removed from the log.
std::string ctest_text(result const& r, unit u);

/// "judged 3 of 4: 2 pass, 1 regression, 1 no-baseline".
std::string summary_text(std::vector<checked> const& all);

/// Whether a status is a judgement: pass, improved or regression.
bool is_judged(status s);

/// Control characters replaced, so that a device's name cannot drive a terminal.
std::string plain(std::string const& text);

/// `& < > "` and control characters escaped for XML.
std::string xml(std::string const& text);

/// A table with padded columns; the first row is the heading.
std::string table(std::vector<std::vector<std::string>> const& rows);

}  // namespace bandgate::cli
