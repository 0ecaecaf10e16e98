// SPDX-License-Identifier: Apache-2.0
/// What the parts of a series show beyond its worst value.
#pragma once

#include <optional>
#include <vector>

#include <bandgate/result.hpp>

#include "gate/compare.hpp"

namespace bandgate {

/// "dropped": from the first window to the last by more than the tolerance of an entry, the
/// tightest where several hold. A card can stay above its bound and still be on its way down.
std::optional<reason> dropped(measurement const& m, std::vector<comparison> const& held);

/// "uneven": the slowest slice of a memory is below the fastest by more than the tolerance of an
/// entry that holds it against the median, which says nothing where half of them are slow.
std::optional<reason> uneven(measurement const& m, std::vector<comparison> const& held);

/// "slowest-part": which part is beyond the bound that the worst one broke, and how many are.
std::optional<reason> slowest_part_reason(measurement const& m, comparison const& broken);

}  // namespace bandgate
