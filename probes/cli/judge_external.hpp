// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/result.hpp>

#include "records/external.hpp"

namespace bandgate::cli {

struct judged_benchmark {
  external_benchmark const* of{};
  bandgate::result result;  ///< with its verdict; `verified` in it means nothing
};

/// Holds one benchmark against its entry; null: there is none. An entry that is relative to another
/// benchmark follows that of the same parameters, or of none, among `all`. Throws usage_error for
/// what the benchmark would have to measure and does not, and for an entry that cannot be meant.
judged_benchmark judge_external(external_benchmark const& one, baseline_entry const* entry,
                                external_results const& all);

}  // namespace bandgate::cli
