// SPDX-License-Identifier: Apache-2.0
#include "cli/dialect.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>

namespace bandgate::cli {
namespace {

using enum status;
using testing::EndsWith;
using testing::StartsWith;

constexpr std::array all_dialects{dialect::nagios, dialect::npd, dialect::nhc, dialect::github};

report_line passing(std::string subject) {
  return {.what = pass,
          .subject = std::move(subject),
          .message = "4302.5 GiB/s, bounds 4259.0 GiB/s .. 4345.0 GiB/s",
          .value = 4302.5,
          .lower = 4259,
          .upper = 4345,
          .reference = 4302,
          .unit = "GiB/s"};
}

report_line slow() {
  auto line = passing("gpu1 copy");
  line.what = regression;
  line.message = "4086.9 GiB/s, below 4259.0 GiB/s; the power cap held the clocks back";
  line.next_step = "Raise the power limit.";
  line.value = 4086.94;
  return line;
}

report_line of(status what, std::string message = "why") {
  return {.what = what, .subject = "gpu0 read", .message = std::move(message)};
}

report_line const slow_launch{.what = regression,
                              .subject = "gpu0 launch",
                              .message = "4.2 us, above 4 us; none found",
                              .value = 4.2,
                              .lower = 1.5,
                              .upper = 4,
                              .unit = "us",
                              .lower_is_better = true};

/// Approved: read with the guidelines beside it.
std::vector<report_line> mixed() {
  return {passing("gpu0 read"), slow(), of(skipped, "it needs two GPUs"), slow_launch,
          of(inconclusive, "process 4711 (train.py) computes on the device")};
}

std::string text(dialect in, std::vector<report_line> const& lines) {
  return speak(in, lines).text;
}

int code(dialect in, std::vector<report_line> const& lines) {
  return speak(in, lines).code;
}

std::vector<std::string> lines_of(std::string const& all) {
  std::vector<std::string> lines;
  std::istringstream stream(all);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(dialect, nagios_as_approved) {
  EXPECT_EQ(text(dialect::nagios, mixed()),
            "BANDGATE CRITICAL: gpu1 copy: regression: 4086.9 GiB/s, below 4259.0 GiB/s; the power "
            "cap held the clocks back (and 2 more) | "
            "'gpu1 copy GiB/s'=4086.94;4259:4345;4259:;0; 'gpu0 launch'=4.2us;1.5:4;~:4;0; "
            "'gpu0 read GiB/s'=4302.5;4259:4345;4259:;0;\n"
            "[CRITICAL] gpu1 copy: regression: 4086.9 GiB/s, below 4259.0 GiB/s; the power cap "
            "held the clocks back; next: Raise the power limit.\n"
            "[CRITICAL] gpu0 launch: regression: 4.2 us, above 4 us; none found\n"
            "[UNKNOWN] gpu0 read: inconclusive: process 4711 (train.py) computes on the device\n"
            "[OK] gpu0 read: pass: 4302.5 GiB/s, bounds 4259.0 GiB/s .. 4345.0 GiB/s\n"
            "[UNKNOWN] gpu0 read: skipped: it needs two GPUs\n");
}

TEST(dialect, nagios_of_passes_is_a_count) {
  EXPECT_EQ(text(dialect::nagios, {passing("gpu0 read"), passing("gpu1 read")}),
            "BANDGATE OK: 2 of 2 passed | 'gpu0 read GiB/s'=4302.5;4259:4345;4259:;0; "
            "'gpu1 read GiB/s'=4302.5;4259:4345;4259:;0;\n"
            "[OK] gpu0 read: pass: 4302.5 GiB/s, bounds 4259.0 GiB/s .. 4345.0 GiB/s\n"
            "[OK] gpu1 read: pass: 4302.5 GiB/s, bounds 4259.0 GiB/s .. 4345.0 GiB/s\n");
}

TEST(dialect, an_absent_bound_is_open) {
  auto line = passing("gpu0 read");
  line.upper.reset();
  EXPECT_THAT(lines_of(text(dialect::nagios, {line}))[0],
              EndsWith("| 'gpu0 read GiB/s'=4302.5;;4259:;0;"));
  line.lower.reset();
  EXPECT_THAT(lines_of(text(dialect::nagios, {line}))[0],
              EndsWith("| 'gpu0 read GiB/s'=4302.5;;;0;"));
}

TEST(dialect, npd_as_approved) {
  EXPECT_EQ(text(dialect::npd, mixed()),
            "gpu1 copy: regression: 4086.9 GiB/s, below 4259.0 GiB/s; the power cap held the \n");
  EXPECT_EQ(text(dialect::npd, {passing("gpu0 read"), passing("gpu0 copy")}), "2 of 2 passed\n");
}

TEST(dialect, npd_prefers_what_is_brief) {
  auto line = of(error, "GPU-00000000-0000-4000-8000-000000000001 at 0000:1b:00.0 is lost");
  line.brief = "device-lost";
  EXPECT_EQ(text(dialect::npd, {line}), "gpu0 read: error: device-lost\n");
  EXPECT_THAT(text(dialect::nhc, {line}), EndsWith("is lost\n"));
}

TEST(dialect, nhc_as_approved) {
  EXPECT_EQ(text(dialect::nhc, mixed()),
            "bandgate: gpu1 copy: regression: 4086.9 GiB/s, below 4259.0 GiB/s; the power cap held "
            "the clocks back (and 2 more)\n"
            "bandgate: gpu0 launch: regression: 4.2 us, above 4 us; none found\n"
            "bandgate: not judged: gpu0 read: inconclusive: process 4711 (train.py) computes on "
            "the device\n");
  EXPECT_EQ(text(dialect::nhc, {passing("gpu0 read"), passing("gpu0 copy")}),
            "bandgate: 2 of 2 passed\n");
}

TEST(dialect, github_as_approved) {
  EXPECT_EQ(text(dialect::github, mixed()),
            "::error title=bandgate gpu1 copy regression::4086.9 GiB/s, below 4259.0 GiB/s; the "
            "power cap held the clocks back%0Anext: Raise the power limit.\n"
            "::error title=bandgate gpu0 launch regression::4.2 us, above 4 us; none found\n"
            "::warning title=bandgate gpu0 read inconclusive::process 4711 (train.py) computes on "
            "the device\n"
            "::notice title=bandgate gpu0 read skipped::it needs two GPUs\n"
            "bandgate: 1 more: 1 pass\n");
}

struct expected {
  char const* name;
  report_line line;
  int nagios, npd, nhc, github;
};

std::vector<expected> const codes{
    {"pass", of(pass), 0, 0, 0, 0},
    {"improved", of(improved), 1, 0, 0, 0},
    {"unstable", {.what = pass, .unstable = true}, 1, 0, 0, 0},
    {"regression", of(regression), 2, 1, 1, 1},
    {"error", of(error), 2, 1, 3, 3},
    {"inconclusive", of(inconclusive), 3, 2, 0, 4},
    {"no-baseline", of(no_baseline), 3, 2, 0, 4},
    {"skipped", of(skipped), 3, 2, 0, 4},
    {"measured", of(measured), 3, 2, 0, 0},
    {"stale", {.what = pass, .stale = true}, 3, 2, 0, 4},
    {"stale", {.what = regression, .stale = true}, 3, 2, 0, 4},
    {"configuration", {.what = pass, .configuration = true}, 3, 2, 0, 2},
};

TEST(dialect, exit_code_of_every_status) {
  for (auto const& one : codes) {
    EXPECT_EQ(code(dialect::nagios, {one.line}), one.nagios) << one.name;
    EXPECT_EQ(code(dialect::npd, {one.line}), one.npd) << one.name;
    EXPECT_EQ(code(dialect::nhc, {one.line}), one.nhc) << one.name;
    EXPECT_EQ(code(dialect::github, {one.line}), one.github) << one.name;
    EXPECT_THAT(text(dialect::nagios, {one.line}), testing::HasSubstr(one.name));
  }
}

TEST(dialect, every_word_is_said_by_every_dialect_but_of_a_pass) {
  for (auto const& one : codes)
    for (auto const in : all_dialects)
      EXPECT_THAT(text(in, {one.line, of(pass), of(pass)}),
                  testing::HasSubstr(one.name == std::string("skipped") ? "pass" : one.name));
}

TEST(dialect, nhc_says_what_was_not_judged) {
  for (auto const& one : codes) {
    bool const judged = one.nagios != 3;
    EXPECT_THAT(text(dialect::nhc, {one.line}),
                StartsWith(judged ? "bandgate: " : "bandgate: not judged: "));
    EXPECT_EQ(text(dialect::nhc, {one.line}).starts_with("bandgate: not judged"), !judged);
  }
}

TEST(dialect, what_does_not_apply_says_nothing_among_others) {
  EXPECT_EQ(code(dialect::nagios, {of(skipped), passing("gpu0 read")}), 0);
  EXPECT_EQ(code(dialect::npd, {of(skipped), passing("gpu0 read")}), 0);
  EXPECT_THAT(text(dialect::nagios, {of(skipped), passing("a"), passing("b")}),
              StartsWith("BANDGATE OK: 2 of 3 passed | "));
}

TEST(dialect, the_worst_decides) {
  EXPECT_EQ(code(dialect::nagios, {of(pass), of(inconclusive), of(improved)}), 3);
  EXPECT_EQ(code(dialect::nagios, {of(inconclusive), of(regression)}), 2);
  EXPECT_EQ(code(dialect::npd, {of(no_baseline), of(regression)}), 1);
  EXPECT_EQ(code(dialect::nhc, {of(regression), of(error)}), 3);
  EXPECT_EQ(code(dialect::nhc, {of(inconclusive), of(regression)}), 1);
}

TEST(dialect, what_only_the_outcome_knows_is_said) {
  for (auto const in : {dialect::nagios, dialect::npd})
    EXPECT_EQ(speak(in, {of(pass)}, {.finals = {pass}, .device_problem = true}).code,
              in == dialect::nagios ? 2 : 1);
  EXPECT_EQ(speak(dialect::nagios, {of(pass)}, {.finals = {pass}, .recording_failed = true}).code,
            3);
  EXPECT_EQ(speak(dialect::nagios, {of(pass)}, {.finals = {pass, regression}}).code, 2);
  EXPECT_EQ(speak(dialect::github, {of(pass)}, {.finals = {pass}, .device_problem = true}).code, 3);
  EXPECT_EQ(speak(dialect::github, {of(regression)}, {.finals = {}, .strict = true}).code, 1);
}

TEST(dialect, nothing_is_unknown) {
  EXPECT_EQ(code(dialect::nagios, {}), 3);
  EXPECT_EQ(code(dialect::npd, {}), 2);
  EXPECT_EQ(text(dialect::nhc, {}), "bandgate: not judged: skipped: nothing was judged\n");
  EXPECT_EQ(code(dialect::github, {}), 4);
}

/// Everything that could break a form, in every field.
std::vector<std::string> hostile() {
  return {std::string(200, 'x'),
          "a|b 'c' \"d\" = e\nf\r\ng\th\x1b[31mi",
          "::error::x\n::stop-commands::y",
          "100 % of %0A, 3:4, ##[error]",
          "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" + std::string(77, '\xff'),
          [] {
            std::string many;
            for (int i = 0; i < 100; ++i) many += "\xf0\x9f\x98\x80";
            return many;
          }(),
          "c1 \xc2\x85 ls \xe2\x80\xa8 ps \xe2\x80\xa9 end",
          std::string("nul\0nul", 7),
          ""};
}

std::vector<report_line> hostile_lines() {
  std::vector<report_line> lines;
  for (auto const& evil : hostile()) {
    auto line = slow();
    line.subject = line.message = line.brief = line.next_step = evil;
    lines.push_back(line);
  }
  return lines;
}

bool is_utf8(std::string const& all) {
  static std::regex const form(
      "([\\x00-\\x7f]|[\\xc2-\\xdf][\\x80-\\xbf]|[\\xe0-\\xef][\\x80-\\xbf]{2}|"
      "[\\xf0-\\xf4][\\x80-\\xbf]{3})*");
  for (auto const& line : lines_of(all))
    if (!std::regex_match(line, form)) return false;
  return true;
}

TEST(dialect, no_text_lets_npd_grow_beyond_80_bytes_or_cuts_a_character) {
  for (auto const& line : hostile_lines()) {
    auto const said = text(dialect::npd, {line});
    EXPECT_LE(said.size(), 81U);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
    EXPECT_TRUE(is_utf8(said)) << said;
    EXPECT_THAT(said, testing::HasSubstr("regression"));
  }
}

TEST(dialect, no_text_breaks_performance_data) {
  static std::regex const first(R"(BANDGATE (OK|WARNING|CRITICAL|UNKNOWN): [^|]+( \| (.+))?)");
  static std::regex const data(
      R"(('[^'=|]+'=-?[0-9]+(\.[0-9]+)?(us)?;[-0-9.:~]*;[-0-9.:~]*;0;( |$))+)");
  for (auto const& line : hostile_lines()) {
    auto const lines = lines_of(text(dialect::nagios, {line}));
    ASSERT_EQ(lines.size(), 2U);
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(lines[0], parts, first)) << lines[0];
    EXPECT_TRUE(std::regex_match(parts[3].str(), data)) << parts[3];
    EXPECT_EQ(lines[1].find('|'), std::string::npos);
    EXPECT_TRUE(is_utf8(lines[0] + lines[1]));
  }
}

TEST(dialect, numbers_have_no_exponent_and_no_infinity) {
  auto line = passing("gpu0 read");
  line.value = 4.6e12;
  line.lower = 1e-9;
  line.upper.reset();
  EXPECT_THAT(text(dialect::nagios, {line}),
              testing::HasSubstr("'gpu0 read GiB/s'=4600000000000;;0:;0;"));
  line.value = 1.0 / 0.0;
  EXPECT_EQ(text(dialect::nagios, {line}).find('|'), std::string::npos);
}

TEST(dialect, no_text_ends_or_begins_a_workflow_command) {
  static std::regex const command("::(error|warning|notice) title=[^:,\\r\\n]*::[^\\r\\n]*");
  auto const said = lines_of(text(dialect::github, hostile_lines()));
  ASSERT_EQ(said.size(), hostile().size() + 1);
  for (std::size_t i = 0; i + 1 < said.size(); ++i)
    EXPECT_TRUE(std::regex_match(said[i], command)) << said[i];
  EXPECT_EQ(said.back(), "bandgate: 0 more");
  EXPECT_EQ(said[3],
            "::error title=bandgate 100 %25 of %250A%2C 3%3A4%2C ##[error] regression::100 %25 of "
            "%250A, 3:4, ##[error]%0Anext: 100 %25 of %250A, 3:4, ##[error]");
}

TEST(dialect, github_gets_nine_annotations_the_worst_first) {
  std::vector<report_line> many(30, of(no_baseline));
  many.push_back(of(regression));
  many.push_back(of(pass));
  auto const said = lines_of(text(dialect::github, many));
  ASSERT_EQ(said.size(), 10U);
  EXPECT_THAT(said[0], StartsWith("::error title=bandgate gpu0 read regression::"));
  EXPECT_EQ(said[9], "bandgate: 23 more: 22 no-baseline, 1 pass");
}

TEST(dialect, is_known_by_name) {
  EXPECT_EQ(parse_dialect("npd"), dialect::npd);
  EXPECT_EQ(parse_dialect("NPD"), std::nullopt);
  EXPECT_EQ(parse_dialect("none"), std::nullopt);
}

result judged(status s, double gib_per_s) {
  result r;
  r.probe.name = "unheard-of";
  r.measurement = measurement{};
  r.measurement->median = to_base(gib_per_s, unit::gib_per_s);
  r.verdict.status = s;
  applied_baseline b;
  b.reference = to_base(4302, unit::gib_per_s);
  b.lower = to_base(4259, unit::gib_per_s);
  r.verdict.baselines = {b};
  return r;
}

TEST(dialect, a_line_of_a_result_has_number_bound_and_cause) {
  auto slow_result = judged(regression, 4000);
  slow_result.verdict.reasons = {{"below-bound", "4000 is below 4259"},
                                 {"power-cap", "the power cap held the clocks back"}};
  slow_result.verdict.next_step = "Raise the power limit.";
  auto const line = line_of("gpu3", slow_result, unit::gib_per_s);
  EXPECT_EQ(line.subject, "gpu3 unheard-of");
  EXPECT_EQ(line.message, "4000.0 GiB/s, below 4259.0 GiB/s; the power cap held the clocks back");
  EXPECT_EQ(line.brief, "4000.0 GiB/s, below 4259.0 GiB/s; power-cap");
  EXPECT_EQ(line.next_step, "Raise the power limit.");
  EXPECT_DOUBLE_EQ(*line.value, 4000);
  EXPECT_DOUBLE_EQ(*line.lower, 4259);
  EXPECT_DOUBLE_EQ(*line.reference, 4302);
  EXPECT_FALSE(line.upper);
  EXPECT_EQ(line.unit, "GiB/s");
}

TEST(dialect, a_line_of_a_pass_has_no_cause_and_one_without_a_number_no_value) {
  EXPECT_EQ(line_of("gpu0", judged(pass, 4302.5), unit::gib_per_s).message,
            "4302.5 GiB/s, bounds 4259.0 GiB/s .. none");
  auto lost = judged(error, 1);
  lost.measurement.reset();
  lost.verdict.baselines.clear();
  lost.verdict.reasons = {{"lost", "the GPU fell off the bus"}};
  auto const line = line_of("gpu0", lost, unit::gib_per_s);
  EXPECT_EQ(line.message, "the GPU fell off the bus");
  EXPECT_EQ(line.brief, "lost");
  EXPECT_FALSE(line.value);
  EXPECT_EQ(text(dialect::nagios, {line}).find('|'), std::string::npos);
}

}  // namespace
}  // namespace bandgate::cli
