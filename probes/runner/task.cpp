// SPDX-License-Identifier: Apache-2.0
#include "runner/task.hpp"

#include <algorithm>
#include <set>

#include <bandgate/errors.hpp>

namespace bandgate {
namespace {

bool declares(probe const& what, std::string const& name) {
  return std::any_of(what.parameters.begin(), what.parameters.end(),
                     [&](parameter const& p) { return p.name == name; });
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

std::string describe(task const& one) {
  auto const differing = describe(one.what->parameters, complete(one.what->parameters, one.given));
  return differing.empty() ? one.what->name : one.what->name + " " + differing;
}

}  // namespace bandgate
