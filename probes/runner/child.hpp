// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace bandgate {

/// How a child process ended, and what it left.
struct child_outcome {
  enum class ending { exited, signalled, timed_out };
  ending how{ending::exited};
  int code{};             ///< exit code or signal number
  bool abandoned{};       ///< killed, yet still there: stuck inside the kernel
  std::string hand_over;  ///< what it wrote to hand_over_descriptor
  std::string errors;     ///< its standard error
  double duration_s{};    ///< steady clock, start-up included
};

/// The descriptor to which a child writes its hand-over document: a pipe, so that a kill of either
/// side leaves nothing behind and neither a full disk nor a file size limit is in the way.
inline constexpr int hand_over_descriptor = 3;

/// After the time limit a child is killed; this is how long it is waited for after that.
inline constexpr std::chrono::seconds reap_limit{5};

/// Runs `command` (command[0] is the program) as a child that is killed at `limit`. Every line that
/// it prints on standard output goes to `on_line` as it comes. Throws usage_error when it cannot be
/// started.
child_outcome run_child(std::vector<std::string> const& command, std::chrono::milliseconds limit,
                        std::function<void(std::string const&)> const& on_line);

/// Called first thing in a child: it dies with the process `parent`, also when that is killed.
/// Exits at once if the parent is gone already.
void die_with_parent(int parent);

}  // namespace bandgate
