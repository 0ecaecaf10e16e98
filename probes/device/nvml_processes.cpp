// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "device/nvml_table.hpp"

namespace bandgate {
namespace {

using nvml_abi::device;

constexpr unsigned char untouched = 0xaa;
constexpr std::size_t widest = sizeof(nvml_abi::process_wide);

/// How far apart the entries lie that the driver wrote. The function's name does not tell: some
/// drivers of the 535 series write a longer entry under the same name. What they left untouched
/// does, since an entry ends in small numbers or in all ones.
std::size_t stride(std::vector<unsigned char> const& buffer, std::size_t count,
                   std::size_t promised) {
  auto const last = std::find_if(buffer.rbegin(), buffer.rend(),
                                 [](unsigned char byte) { return byte != untouched; });
  auto const written = static_cast<std::size_t>(buffer.rend() - last);
  for (auto const size : {sizeof(nvml_abi::process_v1), sizeof(nvml_abi::process_v2), widest})
    if (written == size * count) return size;
  return promised;
}

std::vector<raw_process> entries(std::vector<unsigned char> const& buffer, std::size_t count,
                                 std::size_t promised) {
  std::vector<raw_process> all;
  auto const apart = stride(buffer, count, promised);
  for (std::size_t i = 0; i < count && (i + 1) * apart <= buffer.size(); ++i) {
    nvml_abi::process_v1 entry;  // the prefix of all
    std::memcpy(&entry, buffer.data() + i * apart, sizeof entry);
    raw_process process{entry.pid, {}};
    if (entry.used_memory != nvml_abi::not_available) process.memory_bytes = entry.used_memory;
    if (entry.pid != 0) all.push_back(process);
  }
  return all;
}

/// Processes that computed in the last second; none where the driver does not count by process.
std::optional<std::set<std::uint64_t>> computing(nvml_symbols const& symbols, device card) {
  using namespace std::chrono;
  auto const since =
      duration_cast<microseconds>((system_clock::now() - seconds(1)).time_since_epoch());
  auto const since_us = static_cast<unsigned long long>(since.count());
  if (symbols.process_samples.call == nullptr) return std::nullopt;
  std::vector<nvml_abi::process_sample> samples(1024);
  auto count = static_cast<unsigned>(samples.size());
  auto const code = symbols.process_samples.call(card, samples.data(), &count, since_us);
  if (code == nvml_abi::not_found)
    count = 0;
  else if (code != nvml_abi::success)
    return std::nullopt;
  std::set<std::uint64_t> pids;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, samples.size()); ++i)
    if (samples[i].sm > 0 && samples[i].time_us >= since_us) pids.insert(samples[i].pid);
  return pids;
}

std::vector<raw_process> listed(symbol<nvml_abi::processes_of_device> const& newer,
                                symbol<nvml_abi::processes_of_device> const& older, device handle) {
  bool const second = newer.call != nullptr;
  auto const& asked = second ? newer : older;
  if (asked.call == nullptr) return {};
  // Processes may start between two calls, so the room grows until it suffices.
  for (unsigned room = 64; room <= 65536; room *= 4) {
    std::vector<unsigned char> buffer(room * widest, untouched);
    unsigned count = room;
    auto const code = asked.call(handle, &count, buffer.data());
    if (code == nvml_abi::insufficient_size) continue;
    if (code != nvml_abi::success) return {};
    return entries(buffer, std::min(count, room),
                   second ? sizeof(nvml_abi::process_v2) : sizeof(nvml_abi::process_v1));
  }
  return {};
}

/// It holds a context for its clients and computes nothing itself: they are listed too.
bool is_mps_server(std::string const& name) {
  return name.ends_with("nvidia-cuda-mps-server");
}

}  // namespace

std::vector<raw_process> compute_processes(nvml_symbols const& symbols, device handle) {
  auto all = listed(symbols.processes, symbols.processes_v1, handle);
  for (auto const& client : listed(symbols.mps_processes, symbols.mps_processes_v1, handle)) {
    auto const same = [&](raw_process const& process) { return process.pid == client.pid; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(client);
  }
  return all;
}

std::vector<device_process> nvml::processes(device_identity const& wanted,
                                            std::vector<std::uint64_t> const& own) const {
  if (!available()) return {};
  std::lock_guard const alone(table_->guard);
  auto const& symbols = table_->symbols;
  auto const found = find_device(symbols, wanted);
  if (found.card == nullptr) return {};

  auto const is_own = [&](raw_process const& process) {
    return std::find(own.begin(), own.end(), process.pid) != own.end();
  };
  auto const all = compute_processes(symbols, found.itself);
  auto const busy = computing(symbols, found.card);
  auto const load = ask<nvml_abi::utilization>(symbols.utilization, found.card);
  // Without counts by process, a loaded device is only held against others while none of us is on
  // it: the load could be ours, and an idle context contends with nobody.
  bool const loaded_by_others =
      load && load.value.gpu > 0 && std::none_of(all.begin(), all.end(), is_own);
  std::vector<device_process> others;
  for (auto const& process : all) {
    if (is_own(process)) continue;
    auto name = ask_text(symbols.process_name, static_cast<unsigned>(process.pid)).value;
    bool const computes = busy ? busy->contains(process.pid) : loaded_by_others;
    bool const active = computes && !is_mps_server(name);
    others.push_back({process.pid, std::move(name), process.memory_bytes, active});
  }
  return others;
}

}  // namespace bandgate
