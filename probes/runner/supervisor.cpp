// SPDX-License-Identifier: Apache-2.0
#include "runner/supervisor.hpp"

#include <unistd.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include "device/identity.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"
#include "runner/announcement.hpp"
#include "runner/attempt.hpp"
#include "runner/child.hpp"
#include "runner/request.hpp"

namespace bandgate {
namespace {

using nlohmann::json;

std::vector<std::string> command_for(supervisor_options const& options,
                                     worker_request const& request) {
  auto command = options.worker;
  command.push_back(std::to_string(getpid()));
  command.push_back(to_text(request));
  return command;
}

/// The last line of a worker's standard error, as a clue in the message.
std::string clue(child_outcome const& ended) {
  auto text = ended.errors;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  auto const line = text.substr(text.find_last_of('\n') + 1);
  return line.empty() ? "" : "; its last words: " + line.substr(0, 300);
}

std::string seconds(std::chrono::milliseconds limit) {
  auto const count = limit.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

/// How a worker died, when it left no document.
std::pair<failure, std::string> cause_of_death(child_outcome const& ended,
                                               std::chrono::milliseconds limit,
                                               std::string const& last_phase) {
  auto const where =
      last_phase.empty() ? "before its first phase" : place_of(announcement_from_text(last_phase));
  if (ended.how == child_outcome::ending::timed_out)
    return {failure::timed_out,
            "no answer within the time limit of " + seconds(limit) + ", stuck " + where +
                (ended.abandoned ? "; killed, but it sleeps inside the kernel and was abandoned: "
                                   "the driver hangs, see the kernel log and reboot the node"
                                 : "; killed. The device or its driver hangs, or the limit is too "
                                   "short (--time-limit)") +
                clue(ended)};
  if (ended.how == child_outcome::ending::signalled)
    return {failure::crashed, "the worker process was ended by signal " +
                                  std::to_string(ended.code) + " (" + strsignal(ended.code) + ") " +
                                  where + clue(ended)};
  return {failure::crashed, "the worker process exited with code " + std::to_string(ended.code) +
                                " and left no result, " + where + clue(ended)};
}

json document_of(child_outcome const& ended) {
  if (ended.how != child_outcome::ending::exited || ended.hand_over.empty()) return nullptr;
  return json::parse(ended.hand_over, nullptr, false);
}

device_problem as_problem(std::pair<failure, std::string> const& death) {
  return {to_string(death.first), "listing the devices: " + death.second, false};
}

std::string name_of(device_identity const& device, std::string const& selector) {
  if (device.backend == "host") return "host";
  bool const more = !device.pci_address.empty() && device.pci_address != selector;
  return selector + (more ? " at " + device.pci_address : "");
}

void read_listing(json const& document, device_list& list) {
  for (auto const& device : document.at("devices"))
    list.devices.push_back(device_from_json(device, "a worker's device list"));
  for (auto const& p : document.at("problems"))
    list.problems.push_back({p.at("code"), p.at("message"), p.at("usage")});
}

}  // namespace

std::chrono::milliseconds supervisor::limit_for(probe const& what, parameters const& values) const {
  auto const more = what.more_time_s ? what.more_time_s(values) : 0;
  return options_.time_limit.value_or(std::chrono::seconds{what.time_limit_s + more});
}

device_list supervisor::devices(std::function<gpu_presence()> const& look) const {
  auto const limit = options_.time_limit.value_or(listing_limit);
  worker_request request;
  request.backend = options_.backend;
  auto const ended = run_child(command_for(options_, request), limit, {});
  auto const document = document_of(ended);
  device_list list;
  if (document.is_object() && document.contains("usage_error"))
    throw usage_error(document.at("usage_error"));
  if (document.is_object() && document.contains("failure"))
    list.problems.push_back(
        {document.at("failure").at("code"), document.at("failure").at("message"), false});
  else if (document.is_object())
    read_listing(document, list);
  else
    list.problems.push_back(as_problem(cause_of_death(ended, limit, "listing")));

  if (options_.counts_gpus) {
    // A driver that said itself why it lists nothing is not to be contradicted.
    bool const ask_machine = options_.backend == "cuda" && list.problems.empty();
    for (auto& p :
         missing_devices(ask_machine ? look() : gpu_presence{}, list.devices, options_.environment))
      list.problems.push_back(std::move(p));
  }
  return list;
}

result supervisor::measure(device_identity const& device, std::size_t index, probe const& what,
                           std::map<std::string, std::string> const& given, unsigned attempt,
                           progress const& listener) const {
  auto const values = complete(what.parameters, given);
  auto const selector = selector_of(device, index);
  auto const started = std::chrono::system_clock::now();
  auto const limit = limit_for(what, values);
  worker_request const request{
      worker_request::kind::measure, options_.backend, selector, what.name, given, attempt};
  std::string last_phase;
  auto const ended = run_child(command_for(options_, request), limit, [&](std::string const& line) {
    last_phase = line;
    if (listener) listener(short_id(device, index), what.name, line);
  });

  result r;
  auto const document = document_of(ended);
  if (document.is_object() && document.contains("usage_error"))
    throw usage_error(document.at("usage_error"));
  if (document.is_object() && document.contains("result")) {
    r = result_from_json(document.at("result"), "a worker's result");
  } else {
    r.probe = record_of(what, values);
    std::tie(r.failure, r.failure_message) = cause_of_death(ended, limit, last_phase);
  }
  if (!r.failure && (r.device.uuid != device.uuid || r.device.pci_address != device.pci_address)) {
    r.failure = failure::device_missing;
    r.failure_message = "the worker was to measure " + name_of(device, selector) + " and found " +
                        name_of(r.device, selector_of(r.device, index)) + " instead";
    r.measurement.reset();
    r.skip_reason.clear();
  }
  if (r.failure) {  // who it was matters most when it failed, and may be all that is known
    r.device = device;
    if (r.failure_message.find(selector) == std::string::npos)
      r.failure_message = name_of(device, selector) + ": " + r.failure_message;
  }
  stamp(r, started, ended.duration_s, attempt);
  return r;
}

result supervisor::skip(device_identity const& device, probe const& what,
                        std::map<std::string, std::string> const& given,
                        std::string const& reason) const {
  result r;
  r.device = device;
  r.probe = record_of(what, complete(what.parameters, given));
  r.skip_reason = reason;
  r.health.source = "none: nothing was measured";
  stamp(r, std::chrono::system_clock::now(), 0, 1);
  return r;
}

void supervisor::stamp(result& r, std::chrono::system_clock::time_point started, double duration_s,
                       unsigned attempt) const {
  r.run = {};
  add_environment(r.run, options_.environment);
  r.run.id = new_run_id(started);
  r.run.group_id = options_.group_id;
  r.run.started = rfc3339(started);
  r.run.duration_s = duration_s;
  r.run.attempt = attempt;
  r.run.labels = options_.labels;
  r.run.tool_version = options_.tool_version;
  r.run.tool_build = options_.tool_build;
}

}  // namespace bandgate
