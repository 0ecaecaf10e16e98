// SPDX-License-Identifier: Apache-2.0
#include "cli/print.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include <bandgate/parts.hpp>

namespace bandgate::cli {
namespace {

std::string upper(std::string text) {
  for (auto& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string head(checked const& pair) {
  auto const& r = pair.final();
  auto status = upper(to_string(r.verdict.status));
  if (r.verdict.unstable) status += " (unstable)";
  return fmt::format("{:<12} {} {}", status, pair.id, plain(probe_text(r)));
}

std::string number_text(result const& r, unit u) {
  if (!r.measurement) return "no number";
  bool const is_time = r.measurement->is_time;
  auto const* b = deciding(r);
  auto const parts = parts_text(*r.measurement);
  if (b == nullptr)
    return value_text(r.measurement->worst.value_or(r.measurement->median), is_time, u) + parts +
           ", no bound";
  return fmt::format(
      "{}{}, {}, {:.1f} % of reference {} ({}{}{})", value_text(judged_value(r, *b), is_time, u),
      parts, bounds_text(*b, is_time, u), 100 * b->ratio, value_text(b->reference, is_time, u),
      b->kind, b->card ? ", this card's" : "", b->generic ? ", generic" : "");
}

char const* samples_name(measurement const& m) {
  return !m.series ? "samples" : m.series->axis == "time" ? "windows" : "slices";
}

/// Whether a reason only repeats the first line: the number and its bound, twice.
bool repeats_number(reason const& why) {
  constexpr std::array codes{"below-bound", "below-card-bound", "above-bound", "above-card-bound",
                             "confirmed"};
  return std::find(codes.begin(), codes.end(), why.code) != codes.end();
}

}  // namespace

std::string probe_text(result const& r) {
  for (auto const& p : registered_probes()) {
    if (p.name != r.probe.name) continue;
    auto const differing = describe(p.parameters, r.probe.parameters);
    return differing.empty() ? p.name : p.name + " " + differing;
  }
  return r.probe.name;
}

applied_baseline const* deciding(result const& r) {
  applied_baseline const* worst = nullptr;
  for (auto const& b : r.verdict.baselines) {
    bool const broken =
        (b.lower && judged_value(r, b) < *b.lower) || (b.upper && judged_value(r, b) > *b.upper);
    if (worst == nullptr || broken) worst = &b;
  }
  return worst;
}

double judged_value(result const& r, applied_baseline const& b) {
  auto const& m = *r.measurement;
  if (b.statistic == "worst" && m.worst) return *m.worst;
  return b.statistic == "peak" ? m.peak : m.median;
}

std::string bounds_text(applied_baseline const& b, bool is_time, unit u) {
  auto const low = b.lower ? value_text(*b.lower, is_time, u) : "none";
  auto const high = b.upper ? value_text(*b.upper, is_time, u) : "none";
  return fmt::format("bounds {} .. {}", low, high);
}

std::string parts_text(measurement const& m) {
  if (!m.series || m.series->points.empty()) return "";
  bool const over_time = m.series->axis == "time";
  auto text = (over_time ? ", worst " : ", slowest ") + part_text(*m.series, slowest_part(m));
  if (m.drop) text += fmt::format(", first to last {:+.2f} %", 100 * *m.drop);
  return text;
}

std::string cause_code(result const& r) {
  for (auto const& why : r.verdict.reasons)
    if (!repeats_number(why)) return why.code;
  return "";
}

std::string cause_text(result const& r) {
  // `run` judges nothing, so a skip has its reason in the result alone.
  std::string text = r.verdict.reasons.empty() ? r.skip_reason : "";
  for (auto const& why : r.verdict.reasons)
    if (!repeats_number(why)) text += (text.empty() ? "" : "; ") + why.sentence;
  return text.empty() ? "none found" : text;
}

std::string value_text(double base_value, bool is_time, unit u) {
  if (is_time) return fmt::format("{:.3f} us", from_base(base_value, unit::microseconds));
  return fmt::format("{:.1f} {}", from_base(base_value, u), to_string(u));
}

std::string verdict_text(checked const& pair, unit u) {
  auto const& r = pair.final();
  if (r.verdict.status == status::skipped)
    return fmt::format("{}: {}\n", head(pair), plain(cause_text(r)));
  auto text = fmt::format("{}: {}\n", head(pair), plain(number_text(r, u)));
  if (r.verdict.status == status::pass && !r.verdict.unstable)
    for (auto const& why : r.verdict.reasons)
      text += fmt::format("  note:  {}\n", plain(why.sentence));
  else
    text += fmt::format("  cause: {}\n  next:  {}\n", plain(cause_text(r)),
                        plain(r.verdict.next_step.empty() ? "nothing to do" : r.verdict.next_step));
  for (auto const& note : r.notes) text += fmt::format("  note:  {}\n", plain(note));
  return text;
}

std::string measurement_text(checked const& pair, unit u) {
  auto const& r = pair.final();
  if (!r.measurement) return verdict_text(pair, u);
  auto const& m = *r.measurement;
  auto text = fmt::format(
      "{:<12} {} {}: median {}, peak {}, {} {}, cv {}{}\n", "MEASURED", pair.id,
      plain(probe_text(r)), value_text(m.median, m.is_time, u), value_text(m.peak, m.is_time, u),
      m.samples.size(), samples_name(m), m.cv ? fmt::format("{:.3f} %", 100 * *m.cv) : "unknown",
      m.worst ? parts_text(m) + " (" + value_text(*m.worst, m.is_time, u) + ")" : "");
  for (auto const& note : r.notes) text += fmt::format("  note:  {}\n", plain(note));
  return text;
}

std::string ctest_text(result const& r, unit u) {
  if (!r.measurement) return "";
  auto const& m = *r.measurement;
  auto const label = std::string(m.is_time ? "us" : to_string(u));
  auto const line = [](std::string const& name, double value) {
    return fmt::format(
        "<CTestMeasurement type=\"numeric/double\" name=\"{}\">{:.10g}</CTestMeasurement>\n",
        xml(name), value);
  };
  auto const printed = [&](double v) { return from_base(v, m.is_time ? unit::microseconds : u); };
  auto text = line(r.probe.name + " " + label, printed(m.median));
  if (auto const* b = deciding(r)) {
    text += line(r.probe.name + " reference " + label, printed(b->reference));
    text += line(r.probe.name + " ratio", b->ratio);
  }
  return text;
}

bool is_judged(status s) {
  return s == status::pass || s == status::improved || s == status::regression;
}

std::string summary_text(std::vector<checked> const& all) {
  std::map<std::string, int> counts;
  int judged = 0;
  for (auto const& pair : all) {
    ++counts[to_string(pair.final().verdict.status)];
    judged += is_judged(pair.final().verdict.status) ? 1 : 0;
  }
  std::string parts;
  for (auto const& [name, count] : counts)
    parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", count, name);
  return fmt::format("judged {} of {}{}", judged, all.size(), parts);
}

std::string plain(std::string const& text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = static_cast<unsigned char>(text[i]);
    auto const next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    // U+0080 to U+009F in UTF-8: a terminal obeys these, too.
    bool const upper_control = c == 0xc2 && next >= 0x80 && next <= 0x9f;
    i += upper_control ? 1 : 0;
    clean += c < 0x20 || c == 0x7f || upper_control ? ' ' : text[i];
  }
  return clean;
}

std::string xml(std::string const& text) {
  std::string escaped;
  for (char const c : plain(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string hanging(std::string const& head, std::string const& text, std::size_t indent) {
  constexpr std::size_t columns = 80;
  std::string all, line = plain(head);
  if (line.size() + 1 >= indent) {
    all = line + "\n";
    line.clear();
  }
  line.resize(indent, ' ');
  std::istringstream words(plain(text));
  for (std::string word; words >> word;) {
    bool const first = line.size() == indent;
    if (!first && line.size() + 1 + word.size() > columns) {
      all += line + "\n";
      line.assign(indent, ' ');
      line += word;
    } else {
      line += (first ? "" : " ") + word;
    }
  }
  return all + line + "\n";
}

std::string table(std::vector<std::vector<std::string>> const& rows) {
  std::vector<std::size_t> widths;
  for (auto const& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line +=
          i + 1 == row.size() ? plain(row[i]) : fmt::format("{:<{}}  ", plain(row[i]), widths[i]);
    text += line + "\n";
  }
  return text;
}

}  // namespace bandgate::cli
