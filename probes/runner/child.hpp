// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
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

struct child_options {
  std::vector<std::string> command;  ///< command[0] is the program
  std::chrono::milliseconds limit;   ///< after which it is killed
  /// Every line that it prints on standard output, as it comes.
  std::function<void(std::string const&)> on_line{};
  /// How much later it is killed because of that line; may be empty.
  std::function<std::chrono::milliseconds(std::string const&)> more_time{};
  std::map<std::string, std::string> environment{};  ///< set besides what is inherited
};

/// Throws usage_error when it cannot be started.
child_outcome run_child(child_options const& how);

/// Called first thing in a child: it dies with the process `parent`, also when that is killed.
/// Exits at once if the parent is gone already.
void die_with_parent(int parent);

}  // namespace bandgate
