// SPDX-License-Identifier: Apache-2.0
#include "device/contention.hpp"

#include <algorithm>
#include <cmath>

namespace bandgate {
namespace {

std::string text_of(device_process const& process) {
  auto text = "process " + std::to_string(process.pid) + " (" +
              (process.name.empty() ? "name not known" : process.name) + ")";
  if (process.memory_bytes)
    text += ", " + std::to_string(*process.memory_bytes / mib(1).count) + " MiB";
  return text;
}

std::string seconds_text(nanoseconds time) {
  auto const tenths = std::chrono::duration_cast<std::chrono::milliseconds>(time).count() / 100;
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) +
         " s";
}

measurement_error contended_error(std::string const& device, std::string const& computing,
                                  nanoseconds time) {
  auto const waiting =
      time > nanoseconds{} ? " after waiting " + seconds_text(time) + " for it" : "";
  return {failure::contended,
          device + " is in use: " + computing + "; nothing was measured" + waiting +
              " (--wait-idle TIME waits longer, --allow-contention measures beside others)"};
}

}  // namespace

occupancy occupancy_of(health_snapshot const& seen, std::vector<device_process> processes) {
  occupancy found{std::move(processes), {}};
  auto const busy = seen.find("gpu_utilization_percent");
  if (busy == seen.end() || busy->second.status != health_field::state::ok) return found;
  if (auto const* percent = std::get_if<double>(&busy->second.value); percent != nullptr)
    found.utilization_percent = *percent;
  return found;
}

bool is_mps_server(device_process const& process) {
  auto const name = process.name.substr(process.name.rfind('/') + 1);
  return name == "nvidia-cuda-mps-server";
}

std::string who_computes(occupancy const& seen) {
  std::string all;
  for (auto const& process : seen.processes)
    if (process.active && !is_mps_server(process))
      all += (all.empty() ? "" : "; ") + text_of(process);
  if (!all.empty()) return all;
  if (!seen.utilization_percent || !(*seen.utilization_percent > busy_above_percent)) return "";
  auto const percent = std::to_string(std::lround(std::min(*seen.utilization_percent, 100.0)));
  auto const shared = std::any_of(seen.processes.begin(), seen.processes.end(), is_mps_server);
  return "it is busy to " + percent +
         (shared ? " %, through an MPS server whose clients are not visible"
                 : " % and no process that computes is visible: in a container the host's may be "
                   "hidden");
}

waited wait_until_idle(std::function<occupancy()> const& look, clock& time,
                       std::function<void(nanoseconds)> const& pause, nanoseconds wait_idle) {
  auto const start = time.now();
  for (;;) {
    waited const so_far{who_computes(look()), time.now() - start};
    if (so_far.computing.empty() || so_far.time >= wait_idle) return so_far;
    pause(std::min(between_looks, wait_idle - so_far.time));
  }
}

std::vector<std::string> wait_for_others(std::vector<participant> const& all, clock& time,
                                         std::function<void(nanoseconds)> const& pause,
                                         nanoseconds wait_idle, bool allow_contention) {
  std::vector<std::string> notes;
  nanoseconds so_far{};
  for (auto const& one : all) {
    auto const end =
        wait_until_idle(one.look, time, pause, std::max(nanoseconds{}, wait_idle - so_far));
    so_far += end.time;
    if (end.computing.empty()) continue;
    if (!allow_contention) throw contended_error(one.name, end.computing, so_far);
    notes.push_back("measured beside others: " + end.computing);
  }
  return notes;
}

}  // namespace bandgate
