// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "records/result_json.hpp"
#include "runner/resources.hpp"

namespace bandgate::cli {
namespace {

std::string or_dash(std::string const& text) {
  return text.empty() ? "-" : text;
}

std::string memory_text(device_identity const& d) {
  return d.memory_bytes ? fmt::format("{:.1f} GiB", static_cast<double>(*d.memory_bytes) /
                                                        static_cast<double>(gib(1).count))
                        : "-";
}

std::string peak_text(device_identity const& d) {
  return d.peak_bytes_per_second ? value_text(*d.peak_bytes_per_second, false, unit::gib_per_s)
                                 : "unknown";
}

std::string ids_text(device_identity const& d) {
  if (d.pci_device.empty()) return "-";
  return d.pci_device + (d.pci_subsystem.empty() ? "" : "/" + d.pci_subsystem);
}

void print_devices(machine const& node) {
  std::vector<std::vector<std::string>> rows{
      {"ID", "NAME", "MEMORY", "PEAK", "PCI ADDRESS", "DEVICE/SUBSYSTEM", "BOARD PART", "UUID"}};
  for (auto const& [d, index] : node.chosen)
    rows.push_back({short_id(d, index), d.name, memory_text(d), peak_text(d),
                    or_dash(d.pci_address), ids_text(d), or_dash(d.board_part), or_dash(d.uuid)});
  if (rows.size() > 1)
    out("{}", table(rows));
  else
    out("no device for backend {} on this machine\n", node.runs.options().backend);
}

void print_json(machine const& node) {
  nlohmann::ordered_json document{{"schema", "bandgate.devices/1"},
                                  {"backend", node.runs.options().backend},
                                  {"devices", nlohmann::ordered_json::array()},
                                  {"problems", nlohmann::ordered_json::array()}};
  for (auto const& [d, index] : node.chosen) {
    auto fields = device_to_json(d);
    fields["index"] = index;
    fields["id"] = short_id(d, index);
    document["devices"].push_back(std::move(fields));
  }
  for (auto const& p : node.listed.problems)
    document["problems"].push_back({{"code", p.code}, {"message", p.message}});
  out("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void add_devices(CLI::App& program, environment const& env, int& code) {
  auto* command = program.add_subcommand("devices", "the devices of this machine, in PCI order");
  auto options = std::make_shared<common_options>();
  add_device_options(*command, *options, env);
  command->footer("Examples:\n  bandgate devices\n  bandgate devices --json --backend host\n");
  command->callback([options, &env, &code] {
    auto const node = open_machine(*options, env);
    options->json ? print_json(node) : print_devices(node);
    outcome o;
    for (auto const& p : node.listed.problems) {
      err("bandgate: {}: {}\n", p.code, plain(p.message));
      (p.usage ? o.configuration_problem : o.device_problem) = true;
    }
    code = o.configuration_problem || o.device_problem ? exit_code(o)
           : node.chosen.empty()                       ? skipped
                                                       : ok;
  });
}

}  // namespace bandgate::cli
