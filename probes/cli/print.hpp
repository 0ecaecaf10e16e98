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

/// One line for a pass, with a note for each finding beside it, and for what was skipped; for
/// anything else three: number and bound, cause, next step.
std::string verdict_text(checked const& pair, unit u);

/// One line for a measurement that nobody judged.
std::string measurement_text(checked const& pair, unit u);

/// CTest's measurement lines, preceded by nothing: they are removed from the log.
std::string ctest_text(result const& r, unit u);

/// "judged 3 of 4: 2 pass, 1 regression, 1 no-baseline".
std::string summary_text(std::vector<checked> const& all);

/// "read window=64MiB": the probe with what differs from its defaults.
std::string probe_text(result const& r);

/// The entry that decided: the one furthest beyond its bound, else the first; none without one.
applied_baseline const* deciding(result const& r);
/// The value of a measurement that an entry was held against, in base units.
double judged_value(result const& r, applied_baseline const& b);
/// "bounds 4259.0 GiB/s .. none".
std::string bounds_text(applied_baseline const& b, bool is_time, unit u);
/// Of a series ", worst window 17 of 30, at 16 s, first to last -0.12 %" or ", slowest slice 38 of
/// 139, 0x940000000 to 0x97fffffff"; else nothing.
std::string parts_text(measurement const& m);
/// The reasons but those that only repeat number and bound; "none found" where there are none.
std::string cause_text(result const& r);
/// The code of the first of these reasons; empty where there are none.
std::string cause_code(result const& r);

/// Whether a status is a judgement: pass, improved or regression.
bool is_judged(status s);

/// Control characters replaced, so that a device's name cannot drive a terminal.
std::string plain(std::string const& text);

/// `& < > "` and control characters escaped for XML.
std::string xml(std::string const& text);

/// `text` broken into lines of at most 80 columns at its blanks, `indent` columns in, the first of
/// them behind `head`; where that leaves no room, below it.
std::string hanging(std::string const& head, std::string const& text, std::size_t indent);

/// A table with padded columns; the first row is the heading.
std::string table(std::vector<std::vector<std::string>> const& rows);

}  // namespace bandgate::cli
