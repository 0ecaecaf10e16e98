// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

namespace bandgate::cli {

void progress_line::show(std::string const& device, std::string const& probe,
                         std::string const& phase) {
  if (!terminal_) return;
  std::lock_guard const lock(mutex_);
  devices_[device] = probe + " " + phase;
  std::string line;
  for (auto const& [name, doing] : devices_)
    line += fmt::format("{}{}: {}", line.empty() ? "" : "  |  ", name, doing);
  err("\r\033[K{}", line.substr(0, 200));
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::clear() {
  std::lock_guard const lock(mutex_);
  if (shown_) err("\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace bandgate::cli
