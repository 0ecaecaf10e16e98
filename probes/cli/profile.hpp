// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/context.hpp"

namespace bandgate::cli {

/// `run PROBE --profile`: one launch in this very process, so that a profiler attached to it sees
/// the kernel.
int profile_run(common_options const& options, environment const& env);

}  // namespace bandgate::cli
