// SPDX-License-Identifier: Apache-2.0
#include "runner/announcement.hpp"

#include <charconv>

#include "device/steps.hpp"

namespace bandgate {
namespace {

bool read_number(std::string const& text, std::size_t from, std::size_t to, std::uint64_t& number) {
  auto const* const end = text.data() + to;
  auto const [stop, error] = std::from_chars(text.data() + from, end, number);
  return error == std::errc{} && stop == end && from < to;
}

}  // namespace

std::string to_text(announcement const& said) {
  if (said.all == 0) return said.phase;
  return said.phase + " " + std::to_string(said.done) + "/" + std::to_string(said.all);
}

announcement announcement_from_text(std::string const& line) {
  auto const space = line.rfind(' ');
  auto const slash = line.rfind('/');
  announcement said;
  if (space != std::string::npos && slash != std::string::npos && space < slash &&
      read_number(line, space + 1, slash, said.done) &&
      read_number(line, slash + 1, line.size(), said.all) && said.done <= said.all) {
    said.phase = line.substr(0, space);
    return said;
  }
  return {line, 0, 0};
}

std::string place_of(announcement const& said) {
  for (auto const* step : {asking_driver, asking_library, looking_at, waiting_for_others})
    if (said.phase.starts_with(step)) return "while " + said.phase;
  auto const phase = "in phase " + said.phase;
  if (said.all == 0) return phase;
  auto const all = std::to_string(said.all);
  if (said.done == said.all) return phase + ", after all of its " + all + " parts";
  return phase + ", part " + std::to_string(said.done + 1) + " of " + all;
}

}  // namespace bandgate
