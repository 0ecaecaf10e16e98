// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/dialect.hpp"
#include "cli/print.hpp"

namespace bandgate::cli {
namespace {

/// "4086.9 GiB/s, below 4259.0 GiB/s": short, since some readers see no more than 80 characters.
std::string number_and_bound(result const& r, unit u) {
  auto const& m = *r.measurement;
  auto const text = [&](double value) { return value_text(value, m.is_time, u); };
  auto const* b = deciding(r);
  if (b == nullptr) return text(m.worst.value_or(m.median)) + ", no bound";
  auto const value = judged_value(r, *b);
  auto const number = text(value);
  if (b->lower && value < *b->lower) return number + ", below " + text(*b->lower);
  if (b->upper && value > *b->upper) return number + ", above " + text(*b->upper);
  return number + ", " + bounds_text(*b, m.is_time, u);
}

bool is_fine(result const& r) {
  return r.verdict.status == status::pass && !r.verdict.unstable;
}

std::string message_of(result const& r, unit u) {
  if (!r.measurement) return cause_text(r);
  auto const number = number_and_bound(r, u) + parts_text(*r.measurement);
  return is_fine(r) ? number : number + "; " + cause_text(r);
}

std::string brief_of(result const& r, unit u) {
  auto const code = is_fine(r) ? "" : cause_code(r);
  if (!r.measurement) return code;
  return number_and_bound(r, u) + (code.empty() ? "" : "; " + code);
}

}  // namespace

report_line line_of(std::string const& id, result const& r, unit u) {
  report_line line{.what = r.verdict.status,
                   .subject = id + " " + probe_text(r),
                   .message = message_of(r, u),
                   .brief = brief_of(r, u),
                   .next_step = r.verdict.next_step,
                   .lower_is_better = r.probe.lower_is_better,
                   .unstable = r.verdict.unstable};
  if (!r.measurement) return line;
  auto const& m = *r.measurement;
  auto const shown = m.is_time ? unit::microseconds : u;
  line.unit = to_string(shown);
  auto const* b = deciding(r);
  line.value = from_base(b != nullptr ? judged_value(r, *b) : m.worst.value_or(m.median), shown);
  if (b == nullptr) return line;
  line.reference = from_base(b->reference, shown);
  if (b->lower) line.lower = from_base(*b->lower, shown);
  if (b->upper) line.upper = from_base(*b->upper, shown);
  return line;
}

report_line line_of(checked const& pair, unit u) {
  return line_of(pair.id, pair.final(), u);
}

}  // namespace bandgate::cli
