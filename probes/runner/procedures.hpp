// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/observer.hpp>
#include <bandgate/result.hpp>
#include <bandgate/session.hpp>

#include "measure/measure.hpp"

namespace bandgate {

/// Throws measurement_error(wrong_result) saying what the verification in that shape found.
void must_be_right(prepared& ready, std::size_t shape);

/// One subject for each launch shape.
std::vector<subject*> subjects_of(prepared& ready);

/// Statistics of what was timed and verified.
measurement summary_of(measured const& timed, work const& planned, probe const& what);

/// Runs a probe that was made ready as its `procedure` says, from filling its buffers to the last
/// verification, and leaves measurement and launch shape in `r`. Throws measurement_error.
void run_procedure(result& r, session& device, probe const& what, prepared& ready,
                   observer& listener);

}  // namespace bandgate
