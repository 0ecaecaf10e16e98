// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "runner/child.hpp"

namespace bandgate::cli {
namespace {

using nlohmann::ordered_json;

char const* kind_text(parameter_kind kind) {
  switch (kind) {
    case parameter_kind::size:
      return "size";
    case parameter_kind::count:
      return "count";
    case parameter_kind::choice:
      return "choice";
    case parameter_kind::device:
      return "device";
  }
  return "?";
}

ordered_json parameter_json(parameter const& p) {
  ordered_json j{{"name", p.name}, {"kind", kind_text(p.kind)}};
  std::visit([&](auto const& value) { j["default"] = value; }, p.fallback);
  j["choices"] = p.choices;
  j["keyed"] = p.keyed;
  j["help"] = p.help;
  return j;
}

std::vector<std::string> suite_names(probe const& p) {
  std::vector<std::string> names;
  for (auto const& member : p.suites)
    if (std::find(names.begin(), names.end(), member.suite) == names.end())
      names.push_back(member.suite);
  return names;
}

ordered_json suites_json(probe const& p) {
  auto all = ordered_json::array();
  for (auto const& member : p.suites)
    all.push_back({{"suite", member.suite}, {"parameters", member.parameters}});
  return all;
}

ordered_json probe_json(probe const& p) {
  bool const time = p.direction == direction::lower_is_better;
  ordered_json j{{"name", p.name},
                 {"version", p.version},
                 {"summary", p.summary},
                 {"byte_rule", p.byte_rule},
                 {"unit", time ? "s" : "B/s"},
                 {"ceiling", to_string(p.ceiling)},
                 {"lower_is_better", time},
                 {"expected_spread", p.expected_spread},
                 {"suites", suites_json(p)},
                 {"load", to_string(p.load)},
                 {"time_limit_s", p.time_limit_s},
                 {"gpu", static_cast<bool>(p.on_gpu)},
                 {"host", static_cast<bool>(p.on_host)},
                 {"parameters", ordered_json::array()}};
  for (auto const& parameter : p.parameters) j["parameters"].push_back(parameter_json(parameter));
  return j;
}

void print_probes() {
  std::vector<std::vector<std::string>> rows{{"PROBE", "COUNTS", "SUITES", "WHAT IT MEASURES"}};
  for (auto const& p : registered_probes())
    rows.push_back(
        {p.name, p.byte_rule, fmt::format("{}", fmt::join(suite_names(p), " ")), p.summary});
  out("{}", table(rows));
}

constexpr std::size_t indent = 20;

void print_parameter(parameter const& p) {
  auto help = p.help;
  if (!p.choices.empty()) help += fmt::format(" [{}]", fmt::join(p.choices, ", "));
  out("{}", hanging(fmt::format("  {}={}", p.name, to_string(p.fallback, p.kind)), help, indent));
}

/// Fits a terminal of 80 columns.
void print_in_full() {
  for (auto const& p : registered_probes()) {
    out("{}", hanging(p.name, p.summary + ".", indent));
    out("{}", hanging("  counts", p.byte_rule, indent));
    auto const suites = suite_names(p);
    out("{}",
        hanging("  suites", suites.empty() ? "none" : fmt::format("{}", fmt::join(suites, ", ")),
                indent));
    for (auto const& one : p.parameters) print_parameter(one);
    out("\n");
  }
}

/// Two attempts, each killed at its limit and reaped, the listing before them, and room to start.
long case_timeout_s(supervisor const& runs, task const& one) {
  auto const limit = runs.limit_for(*one.what, complete(one.what->parameters, one.given));
  auto const attempt = std::chrono::ceil<std::chrono::seconds>(limit) + reap_limit;
  return (2 * attempt + listing_limit + std::chrono::seconds{20}).count();
}

/// What CTest runs of a probe: each set of parameters that a suite names, with all suites that do.
struct test_case {
  task one;
  std::vector<std::string> suites;
};

std::vector<test_case> cases_of(probe const& p, std::vector<device_identity> const& machine,
                                std::size_t device) {
  std::vector<test_case> all;
  // One GPU has no peer: under strict a case that is never judged would fail for ever.
  if (lacks_peer({&p, {}}, machine, device)) return all;
  for (auto const& member : p.suites)
    for (auto const& one : with_peers({&p, member.parameters}, machine, device)) {
      auto const same = std::find_if(all.begin(), all.end(),
                                     [&](test_case const& other) { return other.one == one; });
      if (same == all.end())
        all.push_back({one, {member.suite}});
      else if (same->suites.back() != member.suite)
        same->suites.push_back(member.suite);
    }
  return all;
}

/// "gather.span-1024", "p2p_read.peer-gpu1": CTest's resources and filters want no other characters
/// than [A-Za-z0-9_.-].
std::string case_name(task one, std::vector<device_identity> const& machine, std::size_t device) {
  if (auto const other = peer_of(one, machine, device))
    one.given[peer_parameter] = short_id(machine[*other], *other);
  auto text = describe(one);
  for (auto& c : text)
    if (c == ' ')
      c = '.';
    else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.')
      c = '-';
  return text;
}

ordered_json case_json(machine const& node, check_plan::device const& device, test_case const& test,
                       std::string const& kind) {
  auto const& runs = node.runs;
  auto const& everyone = node.listed.devices;
  auto const& p = *test.one.what;
  auto const id = short_id(device.identity, device.index);
  std::vector<std::string> labels{"bandgate", kind};
  labels.insert(labels.end(), test.suites.begin(), test.suites.end());
  labels.emplace_back(to_string(p.load));
  std::vector<std::string> arguments{"check", p.name};
  for (auto const& [name, value] : test.one.given) arguments.push_back(name + "=" + value);
  for (auto const& word :
       {std::string("--backend"), runs.options().backend, std::string("--device"),
        selector_of(device.identity, device.index), std::string("--ctest")})
    arguments.push_back(word);
  return {{"name", "bandgate." + id + "." + case_name(test.one, everyone, device.index)},
          {"device", id},
          {"probe", p.name},
          {"arguments", arguments},
          {"labels", labels},
          {"timeout_s", case_timeout_s(runs, test.one)},
          {"processors", kind == "host" ? device.identity.processors.value_or(1) : 1},
          {"resources", resources_of(test.one, everyone, device.index)}};
}

std::string kind_of(device_identity const& d) {
  return d.backend == "host" ? "host" : d.backend == "scripted" ? "scripted" : "gpu";
}

ordered_json devices_json(machine const& node) {
  auto const& runs = node.runs;
  ordered_json j{{"schema", "bandgate.devices/1"},     {"backend", runs.options().backend},
                 {"gpu_machine", node.presence.any()}, {"devices", ordered_json::array()},
                 {"problems", ordered_json::array()},  {"cases", ordered_json::array()}};
  for (auto const& device : node.chosen) {
    auto const& d = device.identity;
    auto const kind = kind_of(d);
    j["devices"].push_back({{"id", short_id(d, device.index)},
                            {"index", device.index},
                            {"kind", kind},
                            {"name", d.name},
                            {"uuid", d.uuid},
                            {"pci_address", d.pci_address},
                            {"selector", selector_of(d, device.index)}});
    for (auto const& p : registered_probes())
      if (kind == "scripted" || (kind == "host" ? !!p.on_host : !!p.on_gpu))
        for (auto const& test : cases_of(p, node.listed.devices, device.index))
          j["cases"].push_back(case_json(node, device, test, kind));
  }
  for (auto const& p : node.listed.problems)
    j["problems"].push_back({{"code", p.code}, {"message", p.message}});
  return j;
}

}  // namespace

void add_list(CLI::App& program, environment const& env, int& code) {
  auto* command = program.add_subcommand("list", "the probes of this program; touches no driver");
  auto options = std::make_shared<common_options>();
  auto verbose = std::make_shared<bool>(false);
  auto devices = std::make_shared<bool>(false);
  add_device_options(*command, *options, env);
  command->add_flag("--verbose", *verbose, "with every parameter");
  command->add_flag("--devices", *devices,
                    "the devices and the test cases for them (asks the driver, in a process of "
                    "its own)");
  command->footer("Examples:\n  bandgate list --verbose\n  bandgate list --devices --json\n");
  command->callback([=, &env, &code] {
    if (*devices) {
      auto const document = devices_json(open_machine(*options, env));
      out("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    } else if (options->json) {
      ordered_json document{{"schema", "bandgate.probes/1"}, {"probes", ordered_json::array()}};
      for (auto const& p : registered_probes()) document["probes"].push_back(probe_json(p));
      out("{}\n", document.dump(2));
    } else if (*verbose) {
      print_in_full();
    } else {
      print_probes();
    }
    code = 0;
  });
}

}  // namespace bandgate::cli
