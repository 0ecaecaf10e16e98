// SPDX-License-Identifier: Apache-2.0
/// Dialects at the command line: the option, and what a run says in the end.
#pragma once

#include <vector>

#include <CLI/CLI.hpp>

#include "cli/dialect.hpp"

namespace bandgate::cli {

/// --format nagios|npd|nhc|github; excludes those of the command's options that print something of
/// their own (--json, --ctest), so add it after them.
void add_format_option(CLI::App& command, dialect& in);

/// The dialect that a command line asks for, also one that cannot be parsed: its mistake is then
/// told to whoever asked, in words that he understands.
dialect asked_dialect(int argc, char const* const* argv);

/// Prints to standard output; returns the exit code.
int say(dialect in, std::vector<report_line> const& lines, outcome const& overall);

/// A run that ended before it had anything to say.
int say_failure(dialect in, report_line const& why);

/// A mistake of usage or configuration.
report_line configuration_line(std::string const& message);

}  // namespace bandgate::cli
