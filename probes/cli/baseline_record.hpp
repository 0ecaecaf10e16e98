// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/context.hpp"

namespace bandgate::cli {

void add_record(CLI::App& parent, environment const& env, int& code);

/// A table of the entries that are new, changed or gone; empty when none is.
std::string difference_text(std::vector<baseline_entry> const& before,
                            std::vector<baseline_entry> const& after);

}  // namespace bandgate::cli
