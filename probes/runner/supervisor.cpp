// SPDX-License-Identifier: Apache-2.0
#include "runner/supervisor.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "device/identity.hpp"
#include "device/steps.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"
#include "runner/aftermath.hpp"
#include "runner/attempt.hpp"
#include "runner/backends.hpp"
#include "runner/resources.hpp"

namespace bandgate {
namespace {

/// Utilization is a mean over a second or less (NVML's documentation), so that what this run itself
/// left behind on the device is gone after twice that.
constexpr std::chrono::milliseconds utilization_fades{2000};

std::string name_of(device_identity const& device, std::string const& selector) {
  if (device.backend == "host") return "host";
  bool const more = !device.pci_address.empty() && device.pci_address != selector;
  return selector + (more ? " at " + device.pci_address : "");
}

}  // namespace

std::chrono::milliseconds supervisor::limit_for(probe const& what, parameters const& values) const {
  auto const more = what.more_time_s ? what.more_time_s(values) : 0;
  return options_.time_limit.value_or(std::chrono::seconds{what.time_limit_s + more});
}

worker_request supervisor::request_for(worker_request::kind what) const {
  worker_request request;
  request.what = what;
  request.backend = options_.backend;
  auto const how = options_from(options_.environment);
  request.management = how.management;
  request.visible = how.visible;
  request.wait_idle = options_.wait_idle;
  request.allow_contention = options_.allow_contention;
  return request;
}

result supervisor::measure(device_identity const& device, std::size_t index, probe const& what,
                           std::map<std::string, std::string> const& given, unsigned attempt,
                           progress const& listener, std::vector<std::string> const& relative_to,
                           bool waits) const {
  auto const values = complete(what.parameters, given);
  auto const selector = selector_of(device, index);
  auto const started = std::chrono::system_clock::now();
  auto const limit = limit_for(what, values);
  auto request = request_for(worker_request::kind::measure);
  request.selector = selector;
  request.probe = what.name;
  request.parameters = given;
  request.attempt = attempt;
  request.relative_to = relative_to;
  if (!waits) request.wait_idle = std::min(request.wait_idle, utilization_fades);
  std::string last_line;
  bool waiting = false;
  child_options child{.command = command_for(options_, request), .limit = limit};
  child.on_line = [&](std::string const& line) {
    last_line = line;
    if (listener) listener(short_id(device, index), what.name, line);
  };
  child.more_time = [&](std::string const& line) {
    bool const begins =
        !std::exchange(waiting, waiting || line.starts_with(waiting_for_others)) && waiting;
    return begins ? request.wait_idle : std::chrono::milliseconds{};
  };
  // CUDA sees one slice of a card in a process, and which one this variable alone says.
  if (device.backend == "cuda" && !device.mig_parent.empty())
    child.environment = {{"CUDA_VISIBLE_DEVICES", device.uuid}};
  auto const ended = run_child(child);

  result r;
  auto const document = document_of(ended);
  if (document.is_object() && document.contains("usage_error"))
    throw usage_error(document.at("usage_error"));
  if (document.is_object() && document.contains("result")) {
    r = result_from_json(document.at("result"), "a worker's result");
  } else {
    r.probe = record_of(what, values);
    std::tie(r.failure, r.failure_message) = cause_of_death(ended, limit, last_line);
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
