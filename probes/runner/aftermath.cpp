// SPDX-License-Identifier: Apache-2.0
#include "runner/aftermath.hpp"

#include <unistd.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include "runner/announcement.hpp"

namespace bandgate {
namespace {

/// The last line of a worker's standard error, as a clue in the message.
std::string clue(child_outcome const& ended) {
  auto text = ended.errors;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  auto const line = text.substr(text.find_last_of('\n') + 1);
  return line.empty() ? "" : "; its last words: " + line.substr(0, 300);
}

std::string seconds(std::chrono::milliseconds limit) {
  auto const count = limit.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

}  // namespace

std::vector<std::string> command_for(supervisor_options const& options,
                                     worker_request const& request) {
  auto command = options.worker;
  command.push_back(std::to_string(getpid()));
  command.push_back(to_text(request));
  return command;
}

std::pair<failure, std::string> cause_of_death(child_outcome const& ended,
                                               std::chrono::milliseconds limit,
                                               std::string const& last_line) {
  auto const where =
      last_line.empty() ? "before its first phase" : place_of(announcement_from_text(last_line));
  if (ended.how == child_outcome::ending::timed_out)
    return {failure::timed_out,
            "no answer within the time limit of " + seconds(limit) + ", stuck " + where +
                (ended.abandoned ? "; killed, but it sleeps inside the kernel and was abandoned: "
                                   "the driver hangs, see the kernel log and reboot the node"
                                 : "; killed. The device or its driver hangs, or the limit is too "
                                   "short (--time-limit)") +
                clue(ended)};
  if (ended.how == child_outcome::ending::signalled)
    return {failure::crashed, "the worker process was ended by signal " +
                                  std::to_string(ended.code) + " (" + strsignal(ended.code) + ") " +
                                  where + clue(ended)};
  return {failure::crashed, "the worker process exited with code " + std::to_string(ended.code) +
                                " and left no result, " + where + clue(ended)};
}

nlohmann::json document_of(child_outcome const& ended) {
  if (ended.how != child_outcome::ending::exited || ended.hand_over.empty()) return nullptr;
  return nlohmann::json::parse(ended.hand_over, nullptr, false);
}

}  // namespace bandgate
