// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>

#include <bandgate/probe.hpp>

#include "cli/output.hpp"
#include "runner/announcement.hpp"

namespace bandgate::cli {

namespace {

/// What the parts of a probe are counted in.
std::string unit_of_parts(std::string const& name) {
  for (auto const& p : registered_probes())
    if (p.name == name && p.procedure == procedure::series) return " s";
  return "";
}

}  // namespace

std::string progress_text(std::string const& announced, std::string const& unit) {
  constexpr std::uint64_t width = 10;
  auto const said = announcement_from_text(announced);
  if (said.all == 0) return said.phase;
  auto const full = said.done * width / said.all;
  return fmt::format("{} [{:#<{}}{:.<{}}] {}/{}{}", said.phase, "", full, "", width - full,
                     said.done, said.all, unit);
}

void progress_line::show(std::string const& device, std::string const& probe,
                         std::string const& announced, std::string const& before) {
  if (!terminal_) return;
  std::lock_guard const lock(mutex_);
  devices_[device] = before + probe + " " + progress_text(announced, unit_of_parts(probe));
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
