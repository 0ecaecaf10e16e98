// SPDX-License-Identifier: Apache-2.0
#include "cli/dialect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "records/text.hpp"

namespace bandgate::cli {
namespace {

/// What a line amounts to, the worst first.
enum class grade {
  error,
  regression,
  configuration,
  inconclusive,
  stale,
  no_baseline,
  measured,
  unstable,
  improved,
  pass,
  skipped  ///< last: where anything else was judged, what does not apply says nothing
};

struct rule {
  grade of;
  char const* word;
  bool judged;
  int nagios, npd, nhc;
  char const* github;  ///< workflow command; none: no annotation
};

/// The one place that says how bad what is, and to whom. NHC takes a node out of service for every
/// code but 0, so there only what was measured and found bad is one.
constexpr std::array rules{
    rule{grade::error, "error", true, 2, 1, measurement_failed, "error"},
    rule{grade::regression, "regression", true, 2, 1, regression_found, "error"},
    rule{grade::configuration, "configuration", false, 3, 2, 0, "error"},
    rule{grade::inconclusive, "inconclusive", false, 3, 2, 0, "warning"},
    rule{grade::stale, "stale", false, 3, 2, 0, "warning"},
    rule{grade::no_baseline, "no-baseline", false, 3, 2, 0, "warning"},
    rule{grade::measured, "measured", false, 3, 2, 0, "warning"},
    rule{grade::unstable, "unstable", true, 1, 0, 0, "warning"},
    rule{grade::improved, "improved", true, 1, 0, 0, "warning"},
    rule{grade::pass, "pass", true, 0, 0, 0, nullptr},
    rule{grade::skipped, "skipped", false, 3, 2, 0, "notice"},
};

constexpr std::array nagios_words{"OK", "WARNING", "CRITICAL", "UNKNOWN"};
constexpr std::size_t npd_bytes = 80;          ///< where NPD itself would cut, inside a character
constexpr std::size_t npd_subject_bytes = 36;  ///< so that a long name leaves room for the number
constexpr std::size_t github_annotations = 9;  ///< GitHub shows ten of a kind a step, one is ours

grade grade_of(report_line const& line) {
  if (line.configuration) return grade::configuration;
  if (line.stale) return grade::stale;
  switch (line.what) {
    case status::pass:
      return line.unstable ? grade::unstable : grade::pass;
    case status::improved:
      return line.unstable ? grade::unstable : grade::improved;
    case status::regression:
      return grade::regression;
    case status::error:
      return grade::error;
    case status::inconclusive:
      return grade::inconclusive;
    case status::no_baseline:
      return grade::no_baseline;
    case status::measured:
      return grade::measured;
    case status::skipped:
      return grade::skipped;
  }
  return grade::error;
}

/// What a line counts as among the tool's own exit codes.
status counted(report_line const& line) {
  return line.stale ? status::inconclusive : line.what;
}

rule const& rule_of(report_line const& line) {
  return rules.at(static_cast<std::size_t>(grade_of(line)));
}

/// One line of valid UTF-8 without control characters (C0, DEL, C1, line and paragraph separator).
std::string one_line(std::string const& text) {
  std::string clean;
  auto const valid = valid_utf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    auto const byte = static_cast<unsigned char>(valid[i]);
    auto const rest = std::string_view(valid).substr(i);
    if (byte < 0x20 || byte == 0x7f) {
      clean += ' ';
    } else if (byte == 0xc2 && static_cast<unsigned char>(rest[1]) < 0xa0) {
      clean += ' ';
      i += 1;
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      clean += ' ';
      i += 2;
    } else {
      clean += valid[i];
    }
  }
  return clean;
}

/// At most so many bytes, never a part of a character.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text;
}

std::string shortened(std::string const& text, std::size_t most) {
  return text.size() <= most ? text : cut(text, most - 3) + "...";
}

/// "gpu0 read: regression: 4086.9 GiB/s, below 4259.0 GiB/s".
std::string sentence(report_line const& line) {
  auto const about = line.subject.empty() ? "" : line.subject + ": ";
  return fmt::format("{}{}: {}", about, rule_of(line).word, line.message);
}

/// The worst and how many more are not fine; of nothing but passes a count.
std::string summary(std::vector<report_line> const& sorted) {
  auto const is = [](grade what) {
    return [what](report_line const& line) { return grade_of(line) == what; };
  };
  auto const passed = std::count_if(sorted.begin(), sorted.end(), is(grade::pass));
  auto const skipped = std::count_if(sorted.begin(), sorted.end(), is(grade::skipped));
  auto const all = static_cast<std::ptrdiff_t>(sorted.size());
  auto const& worst = sorted.front();
  if (grade_of(worst) == grade::pass)
    return all == 1 ? sentence(worst) : fmt::format("{} of {} passed", passed, all);
  auto const more = all - 1 - passed - (grade_of(worst) == grade::skipped ? 0 : skipped);
  return sentence(worst) + (more > 0 ? fmt::format(" (and {} more)", more) : "");
}

// --- Nagios

/// What may stand before and after the separator of performance data.
std::string without_bar(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

/// Digits and a point only, as the guidelines want: never an exponent.
std::string number(double value) {
  auto text = fmt::format("{:.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

/// "4259:4345": an alert outside; an absent side is open.
std::string range(std::optional<double> const& low, std::optional<double> const& high) {
  if (!low && !high) return "";
  return (low ? number(*low) : "~") + ":" + (high ? number(*high) : "");
}

/// A label with a blank is quoted and may hold anything but a quote and the equals sign.
std::string label(std::string text) {
  for (auto& c : text)
    if (c == '=' || c == '\'') c = c == '=' ? ':' : '_';
  return "'" + without_bar(text) + "'";
}

/// Outside the bounds of both sides the verdict is a warning, beyond the worse one critical. The
/// guidelines know seconds, but no bytes per second: a rate's unit is in its label.
std::string performance(report_line const& line) {
  std::optional<double> const none;
  auto const finite = [](std::optional<double> const& v) { return !v || std::isfinite(*v); };
  if (!line.value || !finite(line.value) || !finite(line.lower) || !finite(line.upper)) return "";
  bool const is_time = line.unit == "us";
  auto const critical = line.lower_is_better ? range(none, line.upper) : range(line.lower, none);
  auto const warning = line.lower && line.upper ? range(line.lower, line.upper) : "";
  return fmt::format("{}={}{};{};{};0;", label(line.subject + (is_time ? "" : " " + line.unit)),
                     number(*line.value), is_time ? "us" : "", warning, critical);
}

dialect_output nagios(std::vector<report_line> const& sorted) {
  auto const code = rule_of(sorted.front()).nagios;
  auto text = fmt::format("BANDGATE {}: {}", nagios_words.at(static_cast<std::size_t>(code)),
                          without_bar(summary(sorted)));
  std::string separator = " | ";
  for (auto const& line : sorted) {
    auto const data = performance(line);
    if (data.empty()) continue;
    text += separator + data;
    separator = " ";
  }
  text += '\n';
  for (auto const& line : sorted) {
    auto const* const word = nagios_words.at(static_cast<std::size_t>(rule_of(line).nagios));
    auto const next = line.next_step.empty() ? "" : "; next: " + line.next_step;
    text += fmt::format("[{}] {}\n", word, without_bar(sentence(line) + next));
  }
  return {text, code};
}

// --- The others

dialect_output npd(std::vector<report_line> sorted) {
  auto& worst = sorted.front();
  auto const& how = rule_of(worst);
  worst.subject = shortened(worst.subject, npd_subject_bytes);
  if (!worst.brief.empty()) worst.message = worst.brief;
  return {cut(summary(sorted), npd_bytes) + "\n", how.npd};
}

dialect_output nhc(std::vector<report_line> const& sorted) {
  auto const prefix = [](report_line const& line) {
    return rule_of(line).judged ? "bandgate: " : "bandgate: not judged: ";
  };
  auto text = prefix(sorted.front()) + summary(sorted) + "\n";
  for (auto line = sorted.begin() + 1; line != sorted.end(); ++line)
    if (grade_of(*line) != grade::pass && grade_of(*line) != grade::skipped)
      text += prefix(*line) + sentence(*line) + "\n";
  return {text, rule_of(sorted.front()).nhc};
}

std::string escaped(std::string const& text, bool property) {
  std::string result;
  for (char const c : text) {
    bool const escape = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    result += escape ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return result;
}

dialect_output github(std::vector<report_line> const& sorted, outcome const& overall) {
  std::string text;
  std::size_t annotated = 0;
  std::map<grade, std::size_t> rest;
  for (auto const& line : sorted) {
    auto const& how = rule_of(line);
    if (how.github == nullptr || annotated == github_annotations) {
      ++rest[how.of];
      continue;
    }
    ++annotated;
    auto const title =
        fmt::format("bandgate {}{}{}", line.subject, line.subject.empty() ? "" : " ", how.word);
    auto const next = line.next_step.empty() ? "" : "\nnext: " + line.next_step;
    text += fmt::format("::{} title={}::{}\n", how.github, escaped(title, true),
                        escaped(line.message + next, false));
  }
  text += fmt::format("bandgate: {} more", sorted.size() - annotated);
  std::string separator = ": ";
  for (auto const& [what, count] : rest) {
    text += fmt::format("{}{} {}", separator, count, rules.at(static_cast<std::size_t>(what)).word);
    separator = ", ";
  }
  return {text + "\n", exit_code(overall)};
}

// --- All of them

/// The lines and what only `overall` knows, so that nothing bad goes unsaid.
std::vector<report_line> completed(std::vector<report_line> lines, outcome const& overall) {
  auto const has = [&](grade what) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](auto const& line) { return grade_of(line) == what; });
  };
  auto const add = [&](report_line line, char const* message) {
    line.message = message;
    if (!has(grade_of(line))) lines.push_back(std::move(line));
  };
  for (auto const s : overall.finals)
    if (std::none_of(lines.begin(), lines.end(), [&](auto const& l) { return counted(l) == s; }))
      add({.what = s}, "see standard error");
  if (overall.device_problem)
    add({.what = status::error}, "a device is missing or broken; see standard error");
  if (overall.configuration_problem || overall.recording_failed)
    add({.configuration = true}, overall.recording_failed
                                     ? "a result could not be written; see standard error"
                                     : "not everything could be tried; see standard error");
  if (lines.empty()) lines.push_back({.what = status::skipped, .message = "nothing was judged"});
  return lines;
}

}  // namespace

std::optional<dialect> parse_dialect(std::string_view name) {
  if (name == "nagios") return dialect::nagios;
  if (name == "npd") return dialect::npd;
  if (name == "nhc") return dialect::nhc;
  if (name == "github") return dialect::github;
  return std::nullopt;
}

char const* word_of(report_line const& line) {
  return rule_of(line).word;
}

dialect_output speak(dialect in, std::vector<report_line> const& lines, outcome const& overall) {
  static_assert([] {
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules[i].of != static_cast<grade>(i)) return false;
    return true;
  }());
  auto sorted = completed(lines, overall);
  for (auto& line : sorted)
    for (auto* text : {&line.subject, &line.message, &line.brief, &line.next_step})
      *text = one_line(*text);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto const& a, auto const& b) { return grade_of(a) < grade_of(b); });
  switch (in) {
    case dialect::nagios:
      return nagios(sorted);
    case dialect::npd:
      return npd(std::move(sorted));
    case dialect::nhc:
      return nhc(sorted);
    case dialect::github:
    case dialect::none:
      break;
  }
  auto own = overall;
  if (own.finals.empty()) {
    own = outcome_of(lines);
    own.strict = overall.strict;
    own.recording_failed |= overall.recording_failed;
    own.device_problem |= overall.device_problem;
    own.configuration_problem |= overall.configuration_problem;
  }
  return github(sorted, own);
}

dialect_output speak(dialect in, std::vector<report_line> const& lines) {
  return speak(in, lines, outcome_of(lines));
}

outcome outcome_of(std::vector<report_line> const& lines) {
  outcome all;
  all.strict = true;
  for (auto const& line : lines) {
    if (line.configuration)
      all.configuration_problem = true;
    else
      all.finals.push_back(counted(line));
  }
  return all;
}

}  // namespace bandgate::cli
