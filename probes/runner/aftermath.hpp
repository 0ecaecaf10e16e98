// SPDX-License-Identifier: Apache-2.0
/// What a worker that is over left to its supervisor: its document, or how it died.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <bandgate/errors.hpp>

#include "runner/child.hpp"
#include "runner/supervisor.hpp"

namespace bandgate {

/// The command line of a worker.
std::vector<std::string> command_for(supervisor_options const& options,
                                     worker_request const& request);

/// What a worker handed over; null where it died before.
nlohmann::json document_of(child_outcome const& ended);

/// How a worker died, when it left no document. `last_line`: what it announced last.
std::pair<failure, std::string> cause_of_death(child_outcome const& ended,
                                               std::chrono::milliseconds limit,
                                               std::string const& last_line);

}  // namespace bandgate
