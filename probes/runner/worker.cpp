// SPDX-License-Identifier: Apache-2.0
#include "runner/worker.hpp"

#include <charconv>
#include <chrono>
#include <exception>
#include <optional>

#include <nlohmann/json.hpp>

#include "device/steps.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"
#include "runner/announcement.hpp"
#include "runner/attempt.hpp"
#include "runner/backends.hpp"
#include "runner/task.hpp"

namespace bandgate {
namespace {

class announcer final : public observer {
 public:
  explicit announcer(std::function<void(std::string const&)> const& announce)
      : announce_(announce) {}
  void on_phase(phase p) override {
    phase_ = to_string(p);
    announce_(phase_);
  }
  void on_progress(std::uint64_t done, std::uint64_t all) override {
    announce_(to_text(announcement{phase_, done, all}));
  }

 private:
  std::function<void(std::string const&)> const& announce_;
  std::string phase_;
};

/// What did not come to a measurement.
result failed(worker_request const& request, probe const& what, parameters const& values,
              measurement_error const& why) {
  result r;
  r.probe = record_of(what, values);
  r.device.backend = request.backend.substr(0, request.backend.find(':'));
  r.failure = why.code();
  r.failure_message = why.what();
  return r;
}

/// Enough of `run` for a valid document; the supervisor knows the rest.
void stamp(result& r) {
  auto const now = std::chrono::system_clock::now();
  r.run.id = new_run_id(now);
  r.run.group_id = r.run.id;
  r.run.started = rfc3339(now);
}

using announce_to = std::function<void(std::string const&)>;

std::unique_ptr<backend> backend_for(worker_request const& request, announce_to const& announce) {
  return make_backend(request.backend, {request.management, request.visible, announce});
}

nlohmann::ordered_json look_at(backend& source, std::size_t index) {
  try {
    return {{"health", health_to_json(source.inspect(index))}};
  } catch (measurement_error const& e) {
    return {{"lost", e.what()}};
  }
}

/// Lists the devices. Looks at each, or at the one that is selected, if that was asked for.
nlohmann::ordered_json list(worker_request const& request, announce_to const& announce) {
  auto const source = backend_for(request, announce);
  auto const found = source->devices();
  nlohmann::ordered_json document{{"devices", nlohmann::ordered_json::array()},
                                  {"problems", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < found.devices.size(); ++i) {
    auto const& device = found.devices[i];
    if (!request.selector.empty() && i != select_device(found, request.selector)) continue;
    nlohmann::ordered_json entry{{"device", device_to_json(device)}};
    if (request.what == worker_request::kind::inspect) {
      announce(std::string(looking_at) + " " + selector_of(device, i) + " at " +
               device.pci_address);
      entry.update(look_at(*source, i));
    }
    document["devices"].push_back(std::move(entry));
  }
  for (auto const& p : found.problems)
    document["problems"].push_back({{"code", p.code}, {"message", p.message}, {"usage", p.usage}});
  return document;
}

/// A device that failed may be lost, which those who manage it know better than the call that
/// failed.
void ask_whether_lost(result& r, backend& source, std::size_t index) {
  if (r.failure != failure::device_failed && r.failure != failure::device_lost) return;
  try {
    source.inspect(index);
  } catch (measurement_error const& e) {
    r.failure = e.code();
    if (r.failure_message != e.what()) r.failure_message += "; " + std::string(e.what());
  } catch (usage_error const&) {  // says nothing of the device
  }
}

result measure_on(worker_request const& request, probe const& what, parameters const& values,
                  announce_to const& announce) {
  announcer listener(announce);
  auto const source = backend_for(request, announce);
  auto const listed = source->devices();
  if (listed.devices.empty() && !listed.problems.empty())  // it was there when it was chosen
    throw measurement_error(failure_from(listed.problems.front().code),
                            listed.problems.front().message);
  auto const index = select_device(listed, request.selector);
  open_options how{.attempt = request.attempt,
                   .wait_idle = request.wait_idle,
                   .allow_contention = request.allow_contention,
                   .beside = {}};
  if (auto const peer = peer_of({&what, request.parameters}, listed.devices, index))
    how.beside.push_back(*peer);
  result r;
  try {
    auto device = source->open(index, how);
    r = measure_attempt(*device, what, values, listener, request.relative_to);
    // Giving back what is on a broken device may hang; this process is about to end.
    if (r.failure) static_cast<void>(device.release());
  } catch (measurement_error const& e) {  // while opening it
    r = failed(request, what, values, e);
  }
  ask_whether_lost(r, *source, index);
  return r;
}

nlohmann::ordered_json measure(worker_request const& request, announce_to const& announce) {
  auto const& what = find_probe(request.probe);
  auto const values = complete(what.parameters, request.parameters);
  result r;
  try {
    r = measure_on(request, what, values, announce);
  } catch (measurement_error const& e) {  // while looking for the device
    r = failed(request, what, values, e);
  }
  stamp(r);
  return {{"result", to_json(r)}};
}

std::optional<std::size_t> as_index(std::string const& text) {
  std::size_t index = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return index;
}

}  // namespace

std::size_t select_device(device_list const& list, std::string const& selector) {
  for (std::size_t i = 0; i < list.devices.size(); ++i)
    if (!selector.empty() &&
        (list.devices[i].uuid == selector || list.devices[i].pci_address == selector))
      return i;
  if (auto const index = as_index(selector); index && *index < list.devices.size()) return *index;
  throw measurement_error(
      failure::device_missing,
      "the driver does not list the device '" + selector + "' among its " +
          std::to_string(list.devices.size()) +
          "; see `bandgate devices`, and the kernel log if it was there before");
}

std::string answer(worker_request const& request,
                   std::function<void(std::string const&)> const& announce) {
  nlohmann::ordered_json document;
  try {
    document = request.what == worker_request::kind::measure ? measure(request, announce)
                                                             : list(request, announce);
  } catch (measurement_error const& e) {
    document = {{"failure", {{"code", to_string(e.code())}, {"message", e.what()}}}};
  } catch (std::exception const& e) {
    document = {{"usage_error", e.what()}};
  }
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace bandgate
