// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace bandgate::cli {

/// "sampling", or "sampling [#.........] 3/30 s" of what a worker announced. `unit` as in " s".
std::string progress_text(std::string const& announced, std::string const& unit);

/// One line on a terminal that says what every device is doing; silent in a pipe.
class progress_line {
 public:
  explicit progress_line(bool terminal) : terminal_(terminal) {}
  /// `before` the name of the probe: "[3/20] ".
  void show(std::string const& device, std::string const& probe, std::string const& announced,
            std::string const& before = "");
  void clear();

 private:
  bool terminal_;
  bool shown_{};
  std::mutex mutex_;
  std::map<std::string, std::string> devices_;
};

}  // namespace bandgate::cli
