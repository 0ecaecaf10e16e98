// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/context.hpp"

namespace bandgate::cli {

/// `baseline try`: results as JSON Lines in, verdicts as JSON Lines out.
void add_try(CLI::App& parent, environment const& env, int& code);

}  // namespace bandgate::cli
