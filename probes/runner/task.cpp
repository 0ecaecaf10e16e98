// SPDX-License-Identifier: Apache-2.0
#include "runner/task.hpp"

#include <algorithm>
#include <set>

#include <bandgate/errors.hpp>

#include "device/peer.hpp"

namespace bandgate {
namespace {

bool declares(probe const& what, std::string const& name) {
  return std::any_of(what.parameters.begin(), what.parameters.end(),
                     [&](parameter const& p) { return p.name == name; });
}

bool is_slice(device_identity const& device) {
  return !device.mig_parent.empty();
}

void require_declared(std::vector<task> const& tasks,
                      std::map<std::string, std::string> const& given) {
  for (auto const& [name, text] : given)
    if (std::none_of(tasks.begin(), tasks.end(),
                     [&](task const& one) { return declares(*one.what, name); }))
      throw usage_error("no chosen probe has a parameter '" + name +
                        "'; see `bandgate list --verbose`");
}

std::string known_suites() {
  std::set<std::string> names;
  for (auto const& p : registered_probes())
    for (auto const& member : p.suites) names.insert(member.suite);
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::vector<task> suite_tasks(std::string const& suite) {
  std::vector<task> tasks;
  for (auto const& p : registered_probes())
    for (auto const& member : p.suites)
      if (member.suite == suite) tasks.push_back({&p, member.parameters});
  if (tasks.empty())
    throw usage_error("unknown suite '" + suite + "'; there are " + known_suites());
  return tasks;
}

std::vector<task> with_parameters(std::vector<task> tasks,
                                  std::map<std::string, std::string> const& given) {
  require_declared(tasks, given);
  std::vector<task> all;
  for (auto& one : tasks) {
    for (auto const& [name, text] : given)
      if (declares(*one.what, name)) one.given[name] = text;
    complete(one.what->parameters, one.given);
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  }
  return all;
}

std::optional<std::size_t> peer_of(task const& one, std::vector<device_identity> const& all,
                                   std::size_t self) {
  if (!declares(*one.what, peer_parameter) || all.size() < 2 || lacks_peer(one, all, self))
    return std::nullopt;
  auto const values = complete(one.what->parameters, one.given);
  auto const& selector = std::get<std::string>(values.at(peer_parameter));
  auto other = find_peer(all, self, selector);
  if (selector == "auto")  // the next in PCI order that is one
    while (is_slice(all[other]) || other == self) other = (other + 1) % all.size();
  if (is_slice(all[other]))
    throw usage_error("parameter peer=" + selector +
                      ": is a MIG slice, which no other GPU reaches; name a whole card");
  return other;
}

std::vector<task> with_peers(task const& one, std::vector<device_identity> const& all,
                             std::size_t self) {
  if (!declares(*one.what, peer_parameter)) return {one};
  auto const asked = one.given.find(peer_parameter);
  bool const each = asked != one.given.end() && asked->second == "each";
  task named = one;
  if (all.size() < 2 || lacks_peer(one, all, self)) {
    if (each) named.given.erase(peer_parameter);
    return {named};
  }
  std::vector<task> tasks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (each ? i == self || is_slice(all[i]) : i != *peer_of(one, all, self)) continue;
    named.given[peer_parameter] = selector_of(all[i], i);
    tasks.push_back(named);
  }
  return tasks;
}

bool lacks_peer(task const& one, std::vector<device_identity> const& all, std::size_t self) {
  if (!declares(*one.what, peer_parameter) || self >= all.size() || all[self].backend == "host")
    return false;
  if (is_slice(all[self])) return true;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != self && !is_slice(all[i])) return false;
  return true;
}

std::string selector_of(device_identity const& device, std::size_t index) {
  if (!device.uuid.empty()) return device.uuid;
  if (!device.pci_address.empty()) return device.pci_address;
  return std::to_string(index);
}

std::string describe(task const& one) {
  auto const differing = describe(one.what->parameters, complete(one.what->parameters, one.given));
  return differing.empty() ? one.what->name : one.what->name + " " + differing;
}

}  // namespace bandgate
