// SPDX-License-Identifier: Apache-2.0
#include "cli/speech.hpp"

#include <string_view>

#include "cli/output.hpp"

namespace bandgate::cli {

void add_format_option(CLI::App& command, dialect& in) {
  auto* option = command.add_option_function<std::string>(
      "--format", [&in](std::string const& name) { in = *parse_dialect(name); },
      "speak to a scheduler or monitor: nagios, npd, nhc or github, with their exit codes");
  option->check([](std::string const& name) {
    return parse_dialect(name) ? std::string() : name + ": unknown; use nagios, npd, nhc or github";
  });
  option->option_text("FORMAT");
  for (auto const* other : {"--json", "--ctest"})
    if (auto* found = command.get_option_no_throw(other)) option->excludes(found);
}

dialect asked_dialect(int argc, char const* const* argv) {
  constexpr std::string_view option = "--format";
  auto in = dialect::none;
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i];
    if (word == "--") break;
    std::string_view name;
    if (word == option && i + 1 < argc)
      name = argv[++i];
    else if (word.starts_with(option) && word.substr(option.size()).starts_with('='))
      name = word.substr(option.size() + 1);
    if (auto const found = parse_dialect(name)) in = *found;
  }
  return in;
}

int say(dialect in, std::vector<report_line> const& lines, outcome const& overall) {
  auto const said = speak(in, lines, overall);
  std::fputs(said.text.c_str(), stdout);
  return said.code;
}

int say_failure(dialect in, report_line const& why) {
  return say(in, {why}, outcome_of({why}));
}

report_line configuration_line(std::string const& message) {
  return {.message = message, .configuration = true};
}

}  // namespace bandgate::cli
