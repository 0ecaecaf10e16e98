// SPDX-License-Identifier: Apache-2.0
/// What schedulers and monitors want to hear. Pure: values to text and exit code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bandgate/result.hpp>
#include <bandgate/units.hpp>

#include "cli/exit_code.hpp"
#include "runner/check.hpp"

namespace bandgate::cli {

/// none: what people read. nagios: monitoring plugins, Icinga. npd: custom plugins of the node
/// problem detector. nhc: LBNL's Node Health Check. github: workflow commands.
enum class dialect { none, nagios, npd, nhc, github };

/// "nagios"; none for an unknown name.
std::optional<dialect> parse_dialect(std::string_view name);

/// One verdict, or one problem that kept a verdict from being reached.
struct report_line {
  status what{status::error};
  std::string subject{};  ///< "gpu0 read"
  std::string message{};  ///< number, bound and cause
  std::string
      brief{};  ///< where there is room for little: number, bound, the cause's code; may be empty
  std::string next_step{};                                       ///< may be empty
  std::optional<double> value{}, lower{}, upper{}, reference{};  ///< in `unit`
  std::string unit{};  ///< "GiB/s", "us"; empty without a value
  bool lower_is_better{};
  bool stale{};          ///< too old, or of the future, to say anything of today: never a success
  bool unstable{};       ///< low once, fine in a fresh process
  bool configuration{};  ///< a mistake of usage, configuration or recording; `what` is not read
};

struct dialect_output {
  std::string text;  ///< for standard output, which gets nothing else
  int code{};        ///< exit code
};

/// One table decides of every line its word, its exit code in each dialect and how bad it is; the
/// worst line gives the exit code. A flag or a status of `overall` that no line speaks of counts as
/// a line of its own, and nothing at all is unknown, never a success. Not for dialect::none. Text
/// of any kind (control characters, separators of the dialect, broken UTF-8, any length) leaves the
/// form intact.
dialect_output speak(dialect in, std::vector<report_line> const& lines, outcome const& overall);

/// The same where the lines say everything; strict, as gates are.
dialect_output speak(dialect in, std::vector<report_line> const& lines);

/// What the lines say together, under strict.
outcome outcome_of(std::vector<report_line> const& lines);

/// "regression", "unstable", "stale".
char const* word_of(report_line const& line);

report_line line_of(checked const& pair, unit u);
/// `id`: how the device is called, "gpu0".
report_line line_of(std::string const& id, result const& r, unit u);

}  // namespace bandgate::cli
