// SPDX-License-Identifier: Apache-2.0
#include "gbench/options.hpp"

#include <cctype>
#include <string_view>

#include <bandgate/errors.hpp>

namespace bandgate::gbench {
namespace {

/// "--name=value" gives the value of `name`.
bool takes(std::string_view argument, std::string_view name, std::string& value) {
  if (!argument.starts_with(name) || argument.size() <= name.size() || argument[name.size()] != '=')
    return false;
  value = argument.substr(name.size() + 1);
  return true;
}

/// As Google Benchmark reads a flag: the last one wins, and so does this rule.
bool is_truthy(std::string value) {
  for (auto& c : value) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return value != "0" && value != "f" && value != "false" && value != "n" && value != "no" &&
         value != "off";
}

struct refused {
  std::string_view flag, variable, why;
};
constexpr refused without_meaning[] = {
    {"--benchmark_min_warmup_time", "BENCHMARK_MIN_WARMUP_TIME",
     "would run the whole measurement once more, unseen; every measurement warms up by itself"},
    {"--benchmark_min_time", "BENCHMARK_MIN_TIME",
     "has nothing to act on; a measurement samples for as long as its own rules say. Use "
     "--benchmark_repetitions for more of them"},
};

}  // namespace

options read_options(std::vector<std::string> const& arguments,
                     std::map<std::string, std::string> const& environment) {
  options o;
  if (auto const set = environment.find("BENCHMARK_LIST_TESTS"); set != environment.end())
    o.lists = is_truthy(set->second);
  if (auto const set = environment.find("BANDGATE_BACKEND");
      set != environment.end() && !set->second.empty())
    o.backend = set->second;
  for (auto const& [flag, variable, why] : without_meaning)
    if (environment.contains(std::string(variable)))
      throw usage_error(std::string(variable) + " " + std::string(why) + "; unset it");
  for (auto const& argument : arguments) {
    std::string value;
    for (auto const& [flag, variable, why] : without_meaning)
      if (argument == flag || takes(argument, flag, value))
        throw usage_error(std::string(flag) + " " + std::string(why) + "; leave it out");
    if (takes(argument, "--bandgate_backend", o.backend)) continue;
    if (takes(argument, "--bandgate_device", o.device)) continue;
    if (argument == "--benchmark_list_tests") o.lists = true;
    if (takes(argument, "--benchmark_list_tests", value)) o.lists = is_truthy(value);
    o.rest.push_back(argument);
  }
  return o;
}

}  // namespace bandgate::gbench
