// SPDX-License-Identifier: Apache-2.0
#include <bandgate/probe.hpp>

#include <algorithm>

namespace bandgate {
namespace {

/// Filled before main by the registrars of the linked probe objects; read-only afterwards.
std::vector<probe (*)()>& makers() {
  static std::vector<probe (*)()> all;
  return all;
}

std::vector<probe> make_all() {
  std::vector<probe> all;
  for (auto const make : makers()) all.push_back(make());
  if (all.empty())
    throw usage_error(
        "no probe is registered in this program: link the probes as objects (a static library "
        "drops self-registering objects silently)");
  std::sort(all.begin(), all.end(), [](probe const& a, probe const& b) { return a.name < b.name; });
  auto const twice = std::adjacent_find(
      all.begin(), all.end(), [](probe const& a, probe const& b) { return a.name == b.name; });
  if (twice != all.end())
    throw usage_error("two probes are registered as '" + twice->name + "': rename one of them");
  return all;
}

}  // namespace

registrar::registrar(probe (*make)()) {
  makers().push_back(make);
}

std::vector<probe> const& registered_probes() {
  static std::vector<probe> const all = make_all();
  return all;
}

probe const& find_probe(std::string_view name) {
  auto const& all = registered_probes();
  auto const found =
      std::find_if(all.begin(), all.end(), [&](probe const& p) { return p.name == name; });
  if (found != all.end()) return *found;
  std::string names;
  for (auto const& p : all) names += (names.empty() ? "" : ", ") + p.name;
  throw usage_error("unknown probe '" + std::string(name) + "'; this program has " + names);
}

}  // namespace bandgate
