// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/baseline_record.hpp"
#include "cli/baseline_try.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "records/schema.hpp"

namespace bandgate::cli {
namespace {

std::string reference_text(baseline_entry const& e) {
  if (!e.relative_to.empty()) return fmt::format("{:.4g} x {}", e.value, e.relative_to);
  if (!e.unit) return fmt::format("{:.4g} x peak", e.value);
  return fmt::format("{:.6g} {}", e.value, to_string(*e.unit));
}

std::string bound_text(baseline_entry const& e, double relative) {
  return fmt::format("{:.6g} ({:+.2f} %)", e.value * (1 + relative), 100 * relative);
}

/// Of a probe that this program does not have, any number reads best as it is.
parameter_kind kind_of_parameter(std::string const& probe_name, std::string const& name) {
  for (auto const& p : registered_probes())
    if (p.name == probe_name)
      for (auto const& parameter : p.parameters)
        if (parameter.name == name) return parameter.kind;
  return parameter_kind::count;
}

std::vector<std::string> row_of(baseline_entry const& e) {
  std::string words;
  for (auto const& [name, value] : e.parameters)
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", name,
                         to_string(value, kind_of_parameter(e.probe, name)));
  return {e.probe,
          words,
          e.statistic,
          reference_text(e),
          bound_text(e, e.lower),
          e.upper ? bound_text(e, *e.upper) : "none",
          e.provenance.kind,
          e.card.empty() ? (e.board_part.empty() ? "model" : e.board_part) : e.card};
}

void print_file(baseline_file const& file) {
  out("{}  ({})\n", plain(file.model), plain(file.origin));
  std::vector<std::vector<std::string>> rows{
      {"PROBE", "PARAMETERS", "STATISTIC", "REFERENCE", "LOWER", "UPPER", "KIND", "FOR"}};
  for (auto const& e : file.entries) rows.push_back(row_of(e));
  out("{}\n", table(rows));
}

void add_validate(CLI::App& parent, int& code) {
  auto* command = parent.add_subcommand("validate", "check baseline files or folders");
  auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("path", *paths, "files or folders")->required();
  command->footer("Examples:\n  bandgate baseline validate /etc/bandgate/baselines\n");
  command->callback([paths, &code] {
    auto const built_in = baseline_library({}, registered_probes()).files().size();
    for (auto const& path : *paths) {
      baseline_library const library({path}, registered_probes());
      if (library.files().size() == built_in)
        throw usage_error(path + ": holds no *.json file, so nothing was checked");
      for (auto const& warning : library.warnings()) out("warning: {}\n", plain(warning));
      for (auto const& file : library.files())
        if (!file.origin.starts_with("built-in:"))
          out("valid: {} ({}, {} entries)\n", file.origin, plain(file.model), file.entries.size());
    }
    code = ok;
  });
}

void add_show(CLI::App& parent, environment const& env, int& code) {
  auto* command = parent.add_subcommand("show", "every baseline in search order, with its bounds");
  auto options = std::make_shared<common_options>();
  add_baseline_options(*command, *options);
  command->footer("Examples:\n  bandgate baseline show --baselines ./site\n");
  command->callback([options, &env, &code] {
    auto const library = load_baselines(*options, env);
    for (auto const& file : library.files()) print_file(file);
    code = ok;
  });
}

/// What differs outside of the entries' figures, and in them beyond what a table shows.
std::string heading_difference(std::string const& before, std::string const& after) {
  auto const read = [](std::string const& file) {
    return parse_strict(read_text(file, std::uintmax_t{16} << 20), file);
  };
  auto const a = read(before);
  auto const b = read(after);
  std::string text;
  for (auto const& change : nlohmann::json::diff(a, b)) {
    auto const place = change["path"].get<std::string>();
    auto const to = change.contains("value") ? change["value"].dump() : "removed";
    auto const at = nlohmann::json::json_pointer(place);
    auto const from = a.contains(at) ? a[at].dump() : "none";
    if (from.size() + to.size() < 200) text += fmt::format("{}: {} -> {}\n", place, from, to);
  }
  return text.empty() && a != b ? "the files differ\n" : text;
}

void add_diff(CLI::App& parent, int& code) {
  auto* command = parent.add_subcommand("diff", "what differs between two baseline files");
  auto before = std::make_shared<std::string>();
  auto after = std::make_shared<std::string>();
  command->add_option("before", *before, "a file")->required();
  command->add_option("after", *after, "a file")->required();
  command->footer(
      "Examples:\n  bandgate baseline diff old.json new.json   (exit 1 where they differ)\n");
  command->callback([before, after, &code] {
    std::vector<std::string> warnings;
    auto const a = read_baseline(*before, registered_probes(), warnings);
    auto const b = read_baseline(*after, registered_probes(), warnings);
    auto const text = heading_difference(*before, *after) + difference_text(a.entries, b.entries);
    out("{}", text.empty() ? "no difference\n" : text);
    code = text.empty() ? ok : regression_found;
  });
}

}  // namespace

std::string difference_text(std::vector<baseline_entry> const& before,
                            std::vector<baseline_entry> const& after) {
  std::vector<std::vector<std::string>> rows{
      {"PROBE", "PARAMETERS", "FOR", "BEFORE", "AFTER", "CHANGE", "TOLERANCE"}};
  auto const same_key = [](baseline_entry const& a, baseline_entry const& b) {
    return a.probe == b.probe && a.parameters == b.parameters && a.statistic == b.statistic &&
           a.card == b.card && a.board_part == b.board_part;
  };
  auto const find = [&](std::vector<baseline_entry> const& in, baseline_entry const& e) {
    for (auto const& other : in)
      if (same_key(other, e)) return &other;
    return static_cast<baseline_entry const*>(nullptr);
  };
  auto const tolerance = [](baseline_entry const& e) {
    return fmt::format("{:+.2f} % .. {}", 100 * e.lower,
                       e.upper ? fmt::format("{:+.2f} %", 100 * *e.upper) : "none");
  };
  for (auto const& e : after) {
    auto const* old = find(before, e);
    if (old != nullptr && reference_text(*old) == reference_text(e) &&
        tolerance(*old) == tolerance(e))
      continue;
    auto const row = row_of(e);
    rows.push_back({row[0], row[1], row[7], old ? reference_text(*old) : "-", reference_text(e),
                    old && old->unit == e.unit
                        ? fmt::format("{:+.2f} %", 100 * (e.value / old->value - 1))
                        : "new",
                    old ? tolerance(*old) + " -> " + tolerance(e) : tolerance(e)});
  }
  for (auto const& e : before)
    if (find(after, e) == nullptr) {
      auto const row = row_of(e);
      rows.push_back({row[0], row[1], row[7], reference_text(e), "-", "removed", tolerance(e)});
    }
  return rows.size() == 1 ? "" : table(rows);
}

void add_baseline(CLI::App& program, environment const& env, int& code) {
  auto* command =
      program.add_subcommand("baseline", "record, check, show, compare or try baselines");
  command->require_subcommand(1);
  add_record(*command, env, code);
  add_validate(*command, code);
  add_show(*command, env, code);
  add_diff(*command, code);
  add_try(*command, env, code);
}

}  // namespace bandgate::cli
