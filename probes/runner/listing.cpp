// SPDX-License-Identifier: Apache-2.0
/// The supervisor's listing of devices, and its look at them at rest.
#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "backend/gpu/gpu_backend.hpp"
#include "device/steps.hpp"
#include "records/result_json.hpp"
#include "runner/aftermath.hpp"
#include "runner/backends.hpp"
#include "runner/task.hpp"

namespace bandgate {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::vector<device_identity> identities_of(inspection const& seen) {
  std::vector<device_identity> all;
  for (auto const& one : seen.devices) all.push_back(one.device);
  return all;
}

/// A listing is an inspection without health.
inspection read_answer(json const& document) {
  inspection seen;
  for (auto const& entry : document.at("devices")) {
    inspected one;
    one.device = device_from_json(entry.at("device"), "a worker's device list");
    if (auto const health = entry.find("health"); health != entry.end())
      one.health = health_from_json(*health, "a worker's inspection");
    one.lost = entry.value("lost", "");
    seen.devices.push_back(std::move(one));
  }
  for (auto const& p : document.at("problems"))
    seen.problems.push_back({p.at("code"), p.at("message"), p.at("usage")});
  return seen;
}

struct answer {
  inspection seen;
  bool stuck{};  ///< it was killed, or died, while it looked at a device
};

bool is_look(std::string const& line) {
  return line.starts_with(looking_at);
}

using more_time = std::function<milliseconds(std::string const&)>;

/// Asks a worker. What became of it is among the problems.
answer ask(supervisor_options const& options, worker_request const& request, milliseconds limit,
           char const* doing, more_time more = {}) {
  std::string last_line;
  child_options child{.command = command_for(options, request), .limit = limit};
  child.on_line = [&](std::string const& line) { last_line = line; };
  child.more_time = std::move(more);
  auto const ended = run_child(child);
  auto const document = document_of(ended);
  if (document.is_object() && document.contains("usage_error"))
    throw usage_error(document.at("usage_error"));
  if (document.is_object() && document.contains("failure")) {
    auto const& failed = document.at("failure");
    return {{{}, {{failed.at("code"), failed.at("message"), false}}}};
  }
  if (document.is_object()) return {read_answer(document)};
  auto const [code, how] = cause_of_death(ended, limit, last_line);
  return {{{}, {{to_string(code), std::string(doing) + " the devices: " + how, false}}},
          is_look(last_line)};
}

/// Once a worker looks at devices, half of the limit is kept for looking at each apart. Before that
/// there are none to look at, so a driver that starts slowly may take all of it.
more_time half_from_the_first_look(milliseconds limit) {
  auto const half = steady_clock::now() + limit / 2;
  return [=, looked = false](std::string const& line) mutable {
    if (looked || !is_look(line)) return milliseconds{0};
    looked = true;
    return steady_clock::now() < half ? -limit / 2 : milliseconds{0};
  };
}

/// In whole seconds where they are several, since people read it.
milliseconds left_until(steady_clock::time_point deadline) {
  auto const left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  return left < milliseconds{2000} ? left : std::chrono::floor<std::chrono::seconds>(left);
}

}  // namespace

std::vector<device_problem> supervisor::add_missing(
    std::vector<device_problem> problems, std::vector<device_identity> const& listed,
    std::function<gpu_presence()> const& look) const {
  if (!options_.counts_gpus) return problems;
  // A driver that said itself why it lists nothing is not to be contradicted.
  bool const ask_machine = is_gpu_backend(options_.backend) && problems.empty();
  for (auto& p : missing_devices(ask_machine ? look() : gpu_presence{}, listed,
                                 options_.environment, gpu_backend_name()))
    problems.push_back(std::move(p));
  return problems;
}

device_list supervisor::devices(std::function<gpu_presence()> const& look) const {
  auto [seen, _] = ask(options_, request_for(worker_request::kind::devices),
                       options_.time_limit.value_or(listing_limit), "listing");
  device_list list{identities_of(seen), {}};
  list.problems = add_missing(std::move(seen.problems), list.devices, look);
  return list;
}

inspection supervisor::inspect(std::function<gpu_presence()> const& look) const {
  auto const limit = options_.time_limit.value_or(inspection_limit);
  auto const deadline = steady_clock::now() + limit;
  auto [seen, stuck] = ask(options_, request_for(worker_request::kind::inspect), limit,
                           "inspecting", half_from_the_first_look(limit));
  if (stuck && steady_clock::now() < deadline) seen = inspect_each(deadline);
  seen.problems = add_missing(std::move(seen.problems), identities_of(seen), look);
  return seen;
}

inspection supervisor::inspect_each(steady_clock::time_point deadline) const {
  auto seen =
      ask(options_, request_for(worker_request::kind::devices), left_until(deadline) / 2, "listing")
          .seen;
  auto const limit = left_until(deadline);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < seen.devices.size(); ++i)
    threads.emplace_back([&, i] {
      auto& one = seen.devices[i];
      auto request = request_for(worker_request::kind::inspect);
      request.selector = selector_of(one.device, i);
      try {
        auto alone = ask(options_, request, limit, "inspecting").seen;
        if (!alone.devices.empty())
          one = std::move(alone.devices.front());
        else
          one.lost =
              alone.problems.empty() ? "it is not listed any more" : alone.problems.front().message;
      } catch (std::exception const& e) {
        one.lost = e.what();
      }
    });
  threads.clear();
  return seen;
}

}  // namespace bandgate
