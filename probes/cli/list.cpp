// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "runner/child.hpp"

namespace bandgate::cli {
namespace {

using nlohmann::ordered_json;

char const* kind_text(parameter_kind kind) {
  return kind == parameter_kind::size ? "size" : kind == parameter_kind::count ? "count" : "choice";
}

ordered_json parameter_json(parameter const& p) {
  ordered_json j{{"name", p.name}, {"kind", kind_text(p.kind)}};
  std::visit([&](auto const& value) { j["default"] = value; }, p.fallback);
  j["choices"] = p.choices;
  j["help"] = p.help;
  return j;
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
                 {"suites", p.suites},
                 {"load", to_string(p.load)},
                 {"time_limit_s", p.time_limit_s},
                 {"gpu", static_cast<bool>(p.on_gpu)},
                 {"host", static_cast<bool>(p.on_host)},
                 {"parameters", ordered_json::array()}};
  for (auto const& parameter : p.parameters) j["parameters"].push_back(parameter_json(parameter));
  return j;
}

void print_probes(bool verbose) {
  std::vector<std::vector<std::string>> rows{{"PROBE", "COUNTS", "SUITES", "WHAT IT MEASURES"}};
  for (auto const& p : registered_probes()) {
    rows.push_back({p.name, p.byte_rule, fmt::format("{}", fmt::join(p.suites, " ")), p.summary});
    if (!verbose) continue;
    for (auto const& parameter : p.parameters)
      rows.push_back({"", "", "",
                      fmt::format("  {}={}  {}{}", parameter.name,
                                  to_string(parameter.fallback, parameter.kind), parameter.help,
                                  parameter.choices.empty()
                                      ? ""
                                      : fmt::format(" [{}]", fmt::join(parameter.choices, ", ")))});
  }
  out("{}", table(rows));
}

/// Two attempts, each killed at its limit and reaped, the listing before them, and room to start.
long case_timeout_s(supervisor const& runs, probe const& p) {
  auto const attempt = std::chrono::ceil<std::chrono::seconds>(runs.limit_for(p)) + reap_limit;
  return (2 * attempt + listing_limit + std::chrono::seconds{20}).count();
}

ordered_json case_json(supervisor const& runs, check_plan::device const& device, probe const& p,
                       std::string const& kind) {
  auto const id = short_id(device.identity, device.index);
  std::vector<std::string> labels{"bandgate", kind == "scripted" ? "scripted" : kind};
  labels.insert(labels.end(), p.suites.begin(), p.suites.end());
  labels.emplace_back(to_string(p.load));
  std::vector<std::string> resources;
  if (kind != "host") resources.push_back(id);
  if (kind == "host" || p.load == load::link) resources.emplace_back("hostlink");
  return {{"name", "bandgate." + id + "." + p.name},
          {"device", id},
          {"probe", p.name},
          {"arguments",
           {"check", p.name, "--backend", runs.options().backend, "--device",
            selector_of(device.identity, device.index), "--ctest"}},
          {"labels", labels},
          {"timeout_s", case_timeout_s(runs, p)},
          {"processors", kind == "host" ? device.identity.processors.value_or(1) : 1},
          {"resources", resources}};
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
        j["cases"].push_back(case_json(runs, device, p, kind));
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
    } else {
      print_probes(*verbose);
    }
    code = 0;
  });
}

}  // namespace bandgate::cli
