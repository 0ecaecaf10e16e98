// SPDX-License-Identifier: Apache-2.0
/// What holds for a device whose board part nobody could read. Internal to records/.
#pragma once

#include <optional>
#include <vector>

#include <bandgate/baseline.hpp>

namespace bandgate {

/// One entry with the bounds of all of them, so that a healthy device of any of their board parts
/// is within: the least lower bound, the greatest upper one (none where one has none), and the
/// reference of the entry with the least lower bound. Its `board_part` is for the verdict's
/// sentence: "2 board parts (/entries/7, /entries/8)". None where statistic, unit or relative_to
/// differ, since their bounds cannot be joined.
std::optional<baseline_entry> joined(std::vector<baseline_entry const*> const& by_board_part);

}  // namespace bandgate
