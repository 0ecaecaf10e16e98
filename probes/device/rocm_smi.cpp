// SPDX-License-Identifier: Apache-2.0
#include "device/rocm_smi.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>

#include "device/amd_answer.hpp"
#include "device/pci_address.hpp"
#include "device/rocm_smi_abi.hpp"

namespace bandgate {
namespace {

namespace abi = rocm_smi_abi;
constexpr double micro = 1e6;
constexpr double milli = 1e3;

char const* meaning(int code) {
  switch (code) {
    case amd_code::invalid:
      return "invalid argument";
    case 3:
      return "a file of the driver could not be read";
    case 4:
      return "no permission";
    case 8:
      return "it could not begin";
    case 9:
      return "not implemented";
    case 10:
      return "not found";
    case 14:
      return "no data";
    case 16:
      return "the device is busy";
    default:
      return "error";
  }
}

struct symbols {
  void* loaded{};
  symbol<abi::init_call> init{loaded, {"rsmi_init"}};
  symbol<abi::end_call> end{loaded, {"rsmi_shut_down"}};
  symbol<abi::count_call> devices{loaded, {"rsmi_num_monitor_devices"}};
  symbol<abi::number_call> address{loaded, {"rsmi_dev_pci_id_get"}};
  symbol<abi::frequency_call> clock{loaded, {"rsmi_dev_gpu_clk_freq_get"}};
  symbol<abi::temperature_call> temperature{loaded, {"rsmi_dev_temp_metric_get"}};
  symbol<abi::power_call> power{loaded, {"rsmi_dev_power_get"}};
  symbol<abi::number_of_sensor_call> average_power{loaded, {"rsmi_dev_power_ave_get"}};
  symbol<abi::number_of_sensor_call> power_cap{loaded, {"rsmi_dev_power_cap_get"}};
  symbol<abi::number_call> power_cap_default{loaded, {"rsmi_dev_power_cap_default_get"}};
  symbol<abi::small_number_call> busy{loaded, {"rsmi_dev_busy_percent_get"}};
  symbol<abi::number_call> replays{loaded, {"rsmi_dev_pci_replay_counter_get"}};
  symbol<abi::errors_call> ecc{loaded, {"rsmi_dev_ecc_count_get"}};
  symbol<abi::number_of_sensor_call> memory{loaded, {"rsmi_dev_memory_usage_get"}};
  symbol<abi::pages_call> pages{loaded, {"rsmi_dev_memory_reserved_pages_get"}};
  symbol<abi::processes_call> processes{loaded, {"rsmi_compute_process_info_get"}};
  symbol<abi::devices_of_process_call> devices_of_process{loaded,
                                                          {"rsmi_compute_process_gpus_get"}};
};

struct clock_range {
  std::uint64_t now_hz, most_hz;
};
/// Either layout makes no sense when it is read as the other: a frequency is no place in a list.
template <class Layout>
std::optional<clock_range> range(Layout const& f) {
  auto const room = std::size(f.hz);
  if (f.count == 0 || f.count > room || f.current >= f.count) return std::nullopt;
  return clock_range{f.hz[f.current], *std::max_element(f.hz, f.hz + f.count)};
}

void add_clock(health_snapshot& fields, symbols const& library, std::uint32_t card, abi::clock what,
               std::string const& name) {
  auto const got = amd_ask<abi::frequencies>(library.clock, card, std::uint32_t{what});
  auto clocks = range(got.value.since);
  if (!clocks) clocks = range(got.value.before);
  auto const field = [&](std::uint64_t hz) {
    if (got && !clocks)
      return unavailable(std::string(got.from) + " answered in an unknown layout");
    return amd_amount(got, hz, micro, meaning);
  };
  fields[name + "_mhz"] = field(clocks ? clocks->now_hz : 0);
  fields[name + "_max_mhz"] = field(clocks ? clocks->most_hz : 0);
}

health_field temperature(symbols const& library, std::uint32_t card, abi::sensor where,
                         abi::metric what) {
  auto const got =
      amd_ask<std::int64_t>(library.temperature, card, std::uint32_t{where}, std::uint32_t{what});
  return amd_amount(got, got.value, milli, meaning);
}

health_field power(symbols const& library, std::uint32_t card) {
  amd_answer<std::uint64_t> got{amd_code::missing, {}, library.power.name};
  std::uint32_t type{};  // of the average or of the moment: either is the power under load
  if (library.power.call != nullptr) got.code = library.power.call(card, &got.value, &type);
  if (got.code == amd_code::missing) got = amd_ask<std::uint64_t>(library.average_power, card, 0U);
  return amd_amount(got, got.value, micro, meaning);
}

void add_power_and_temperature(health_snapshot& fields, symbols const& library,
                               std::uint32_t card) {
  fields["power_w"] = power(library, card);
  auto const cap = amd_ask<std::uint64_t>(library.power_cap, card, 0U);
  fields["power_limit_w"] = amd_amount(cap, cap.value, micro, meaning);
  auto const usual = amd_ask<std::uint64_t>(library.power_cap_default, card);
  fields["power_limit_default_w"] = amd_amount(usual, usual.value, micro, meaning);
  fields["temperature_c"] = temperature(library, card, abi::sensor_junction, abi::metric_current);
  fields["temperature_slowdown_c"] =
      temperature(library, card, abi::sensor_junction, abi::metric_critical);
  fields["memory_temperature_c"] =
      temperature(library, card, abi::sensor_memory, abi::metric_current);
  fields["temperature_memory_max_c"] =
      temperature(library, card, abi::sensor_memory, abi::metric_critical);
  auto const busy = amd_ask<std::uint32_t>(library.busy, card);
  fields["gpu_utilization_percent"] = amd_field(busy, busy.value, 1, meaning);
}

health_field retirement(symbols const& library, std::uint32_t card) {
  std::uint32_t count = 0;
  amd_answer<int> got{amd_code::missing, {}, library.pages.name};
  if (library.pages.call != nullptr) got.code = library.pages.call(card, &count, nullptr);
  std::vector<abi::retired_page> pages(count);
  if (got && count > 0) got.code = library.pages.call(card, &count, pages.data());
  if (!got) return amd_field(got, got.value, 1, meaning);
  pages.resize(std::min<std::size_t>(count, pages.size()));
  return known(std::any_of(pages.begin(), pages.end(), [](abi::retired_page const& page) {
    return page.status == abi::page_pending;
  }));
}

void add_memory(health_snapshot& fields, symbols const& library, std::uint32_t card) {
  auto const errors = amd_ask<abi::error_count>(library.ecc, card, std::uint64_t{abi::block_umc});
  fields["ecc_corrected_volatile"] = amd_field(errors, errors.value.corrected, 1, meaning);
  fields["ecc_uncorrected_volatile"] = amd_field(errors, errors.value.uncorrected, 1, meaning);
  fields["page_retirement_pending"] = retirement(library, card);
  auto const used = amd_ask<std::uint64_t>(library.memory, card, std::uint32_t{abi::memory_vram});
  fields["memory_used_bytes"] = amd_field(used, used.value, 1, meaning);
  auto const replays = amd_ask<std::uint64_t>(library.replays, card);
  fields["pcie_replays"] = amd_field(replays, replays.value, 1, meaning);
}

struct found_card {
  std::optional<std::uint32_t> index;
  std::string why;
};
found_card find_card(symbols const& library, device_identity const& wanted) {
  auto const address = parse_pci_address(wanted.pci_address);
  if (!address) return {{}, "no PCI address to find the device by"};
  auto const devices = amd_ask<std::uint32_t>(library.devices);
  if (!devices) return {{}, amd_explain(devices.from, devices.code, meaning(devices.code))};
  // Newer libraries write a partition's number into the four bits below the domain.
  constexpr std::uint64_t of_address = 0xffffffff0000ffff;
  auto const bits = std::uint64_t{address->domain} << 32U | address->bus << 8U |
                    address->device << 3U | address->function;
  for (std::uint32_t i = 0; i < devices.value; ++i)
    if (auto const at = amd_ask<std::uint64_t>(library.address, i);
        at && (at.value & of_address) == bits)
      return {i, {}};
  return {{}, "rocm_smi lists no device at PCI " + to_string(*address)};
}

std::set<std::uint32_t> devices_of(symbols const& library, std::uint32_t pid) {
  std::vector<std::uint32_t> indices(256);
  auto count = static_cast<std::uint32_t>(indices.size());
  if (library.devices_of_process.call == nullptr ||
      library.devices_of_process.call(pid, indices.data(), &count) != amd_code::success)
    return {};
  return {indices.begin(), indices.begin() + std::min<std::ptrdiff_t>(count, 256)};
}

}  // namespace

struct rocm_smi::table {
  explicit table(std::vector<std::string> const& names) : library{load_library(names, why)} {
    if (library.loaded == nullptr) return;
    if (library.init.call == nullptr) {
      why = names.front() + " has no rsmi_init: it is not rocm_smi";
      return;
    }
    auto const code = library.init.call(0);
    if (code != amd_code::success) why = amd_explain(library.init.name, code, meaning(code));
  }
  ~table() {
    if (library.loaded == nullptr) return;
    if (why.empty() && library.end.call != nullptr) library.end.call();
    dlclose(library.loaded);
  }
  table(table const&) = delete;
  table& operator=(table const&) = delete;

  std::string why;
  symbols library;
  std::mutex guard;
};

rocm_smi::rocm_smi(std::vector<std::string> const& libraries)
    : table_(std::make_unique<table>(libraries)) {}
rocm_smi::~rocm_smi() = default;

bool rocm_smi::available() const noexcept {
  return table_->why.empty();
}
std::string const& rocm_smi::why_not() const noexcept {
  return table_->why;
}

void rocm_smi::add_identity(device_identity& identity) const {
  if (!available()) return;
  std::lock_guard const alone(table_->guard);
  auto const& library = table_->library;
  auto const found = find_card(library, identity);
  if (!found.index) return;
  if (auto const cap = amd_ask<std::uint64_t>(library.power_cap, *found.index, 0U);
      cap && cap.value > 0)
    identity.power_limit_w = static_cast<double>(cap.value) / micro;
  if (auto const usual = amd_ask<std::uint64_t>(library.power_cap_default, *found.index);
      usual && usual.value > 0)
    identity.power_limit_default_w = static_cast<double>(usual.value) / micro;
}

health_snapshot rocm_smi::snapshot(device_identity const& wanted) const {
  if (!available()) return nothing_known(table_->why);
  std::lock_guard const alone(table_->guard);
  auto const& library = table_->library;
  auto const found = find_card(library, wanted);
  if (!found.index) return nothing_known(found.why);
  auto fields = nothing_known("rocm_smi has nothing that corresponds, or is not asked for it");
  add_clock(fields, library, *found.index, abi::clock_graphics, "sm_clock");
  add_clock(fields, library, *found.index, abi::clock_memory, "memory_clock");
  add_power_and_temperature(fields, library, *found.index);
  add_memory(fields, library, *found.index);
  return fields;
}

std::vector<device_process> rocm_smi::processes(device_identity const& wanted,
                                                std::vector<std::uint64_t> const& own) const {
  if (!available()) return {};
  std::lock_guard const alone(table_->guard);
  auto const& library = table_->library;
  auto const found = find_card(library, wanted);
  if (!found.index || library.processes.call == nullptr) return {};
  std::vector<abi::process> all(1024);
  auto count = static_cast<std::uint32_t>(all.size());
  if (library.processes.call(all.data(), &count) != amd_code::success) return {};
  all.resize(std::min<std::size_t>(count, all.size()));
  std::vector<device_process> others;
  for (auto const& process : all) {
    if (std::find(own.begin(), own.end(), process.pid) != own.end()) continue;
    if (!devices_of(library, process.pid).contains(*found.index)) continue;
    bool const active = process.cu_occupancy > 0 && process.cu_occupancy <= 100;
    others.push_back({process.pid, {}, process.vram_bytes, active});
  }
  return others;
}

}  // namespace bandgate
