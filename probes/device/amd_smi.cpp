// SPDX-License-Identifier: Apache-2.0
#include "device/amd_smi.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "device/amd_answer.hpp"
#include "device/amd_smi_abi.hpp"
#include "device/file_text.hpp"
#include "device/pci_address.hpp"
#include "device/pcie_generation.hpp"

namespace bandgate {
namespace {

namespace abi = amd_smi_abi;

char const* meaning(int code) {
  switch (code) {
    case amd_code::invalid:
      return "invalid argument";
    case 3:
      return "not implemented";
    case 7:
      return "the call failed";
    case 10:
      return "no permission";
    case 14:
      return "a file of the driver could not be read";
    case 18:
      return "it could not begin";
    case 30:
      return "the device is busy";
    case 31:
      return "not found";
    case 34:
      return "the amdgpu driver is not loaded";
    case 40:
      return "no data";
    default:
      return "error";
  }
}

struct symbols {
  void* loaded{};
  symbol<abi::init_call> init{loaded, {"amdsmi_init"}};
  symbol<abi::end_call> end{loaded, {"amdsmi_shut_down"}};
  symbol<abi::version_call> version{loaded, {"amdsmi_get_lib_version"}};
  symbol<abi::by_address_call> by_address{loaded, {"amdsmi_get_processor_handle_from_bdf"}};
  symbol<abi::clock_call> clock{loaded, {"amdsmi_get_clock_info"}};
  symbol<abi::temperature_call> temperature{loaded, {"amdsmi_get_temp_metric"}};
  symbol<abi::info_call<abi::power_info>> power{loaded, {"amdsmi_get_power_info"}};
  symbol<abi::power_cap_call> power_cap{loaded, {"amdsmi_get_power_cap_info"}};
  symbol<abi::info_call<abi::activity>> activity{loaded, {"amdsmi_get_gpu_activity"}};
  symbol<abi::info_call<abi::pcie_info>> pcie{loaded, {"amdsmi_get_pcie_info"}};
  symbol<abi::info_call<std::uint64_t>> replays{loaded, {"amdsmi_get_gpu_pci_replay_counter"}};
  symbol<abi::info_call<abi::error_count>> ecc{loaded, {"amdsmi_get_gpu_total_ecc_count"}};
  symbol<abi::list_call<abi::retired_page>> pages{loaded, {"amdsmi_get_gpu_bad_page_info"}};
  symbol<abi::info_call<abi::memory_use>> memory{loaded, {"amdsmi_get_gpu_vram_usage"}};
  symbol<abi::info_call<abi::links>> links{loaded, {"amdsmi_get_gpu_xgmi_link_status"}};
  symbol<abi::info_call<abi::board>> board{loaded, {"amdsmi_get_gpu_board_info"}};
  symbol<abi::list_call<abi::process>> processes{loaded, {"amdsmi_get_gpu_process_list"}};
};

health_field temperature(symbols const& library, abi::processor card, abi::sensor where,
                         abi::metric what) {
  auto const got =
      amd_ask<std::int64_t>(library.temperature, card, std::uint32_t{where}, std::uint32_t{what});
  return amd_amount(got, got.value, 1, meaning);
}

void add_clocks(health_snapshot& fields, symbols const& library, abi::processor card) {
  auto const graphics =
      amd_ask<abi::clock_info>(library.clock, card, std::uint32_t{abi::clock_graphics});
  auto const memory =
      amd_ask<abi::clock_info>(library.clock, card, std::uint32_t{abi::clock_memory});
  fields["sm_clock_mhz"] = amd_amount(graphics, graphics.value.mhz, 1, meaning);
  fields["sm_clock_max_mhz"] = amd_amount(graphics, graphics.value.mhz_max, 1, meaning);
  fields["memory_clock_mhz"] = amd_amount(memory, memory.value.mhz, 1, meaning);
  fields["memory_clock_max_mhz"] = amd_amount(memory, memory.value.mhz_max, 1, meaning);
  auto const busy = amd_ask<abi::activity>(library.activity, card);
  // Beyond 100 is a 16-bit "not known" in 32 bits.
  fields["gpu_utilization_percent"] = busy && busy.value.graphics > 100
                                          ? not_supported()
                                          : amd_field(busy, busy.value.graphics, 1, meaning);
}

/// The newest cards know the socket's power, older ones only one of the other two.
health_field power(amd_answer<abi::power_info> const& got) {
  auto const& power = got.value;
  for (auto const watts : {std::uint64_t{power.current_w}, std::uint64_t{power.average_w}})
    if (got && (power.socket_w == 0 || power.socket_w >= UINT32_MAX) && watts > 0 &&
        watts < UINT16_MAX)
      return known(static_cast<double>(watts));
  if (got && power.socket_w >= UINT32_MAX) return not_supported();
  return amd_amount(got, power.socket_w, 1, meaning);
}

void add_power_and_temperature(health_snapshot& fields, symbols const& library,
                               abi::processor card) {
  constexpr double microwatts = 1e6;
  fields["power_w"] = power(amd_ask<abi::power_info>(library.power, card));
  auto const cap = amd_ask<abi::power_cap>(library.power_cap, card, 0U);
  fields["power_limit_w"] = amd_amount(cap, cap.value.cap_uw, microwatts, meaning);
  fields["power_limit_default_w"] = amd_amount(cap, cap.value.default_uw, microwatts, meaning);
  fields["temperature_c"] = temperature(library, card, abi::sensor_junction, abi::metric_current);
  fields["temperature_slowdown_c"] =
      temperature(library, card, abi::sensor_junction, abi::metric_critical);
  fields["memory_temperature_c"] =
      temperature(library, card, abi::sensor_memory, abi::metric_current);
  fields["temperature_memory_max_c"] =
      temperature(library, card, abi::sensor_memory, abi::metric_critical);
}

health_field generation(amd_answer<abi::pcie_info> const& got, std::uint32_t megatransfers) {
  if (got)
    if (auto const number = pcie_generation(megatransfers / 1000.0))
      return known(static_cast<double>(*number));
  return amd_amount(got, std::uint32_t{0}, 1, meaning);
}

void add_links(health_snapshot& fields, symbols const& library, abi::processor card) {
  auto const pcie = amd_ask<abi::pcie_info>(library.pcie, card);
  fields["pcie_generation"] = generation(pcie, pcie.value.now.speed_mts);
  fields["pcie_generation_card"] = generation(pcie, pcie.value.fixed.speed_max_mts);
  fields["pcie_width"] = amd_amount(pcie, pcie.value.now.width, 1, meaning);
  fields["pcie_replays"] = amd_field(pcie, pcie.value.now.replays, 1, meaning);
  if (fields["pcie_replays"].status != health_field::state::ok) {
    auto const replays = amd_ask<std::uint64_t>(library.replays, card);
    fields["pcie_replays"] = amd_field(replays, replays.value, 1, meaning);
  }
  auto const links = amd_ask<abi::links>(library.links, card);
  auto const* const begin = links.value.state;
  auto const* const end = begin + std::min(links.value.count, abi::most_links);
  auto const down = std::count(begin, end, std::uint32_t{abi::link_down});
  auto const up = std::count(begin, end, std::uint32_t{abi::link_up});
  bool const none = links && down + up == 0;  // a link that is switched off is absent
  fields["nvlink_links"] = none ? not_supported() : amd_field(links, down + up, 1, meaning);
  fields["nvlink_active"] = none ? not_supported() : amd_field(links, up, 1, meaning);
}

health_field retirement(symbols const& library, abi::processor card) {
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

void add_memory(health_snapshot& fields, symbols const& library, abi::processor card) {
  auto const errors = amd_ask<abi::error_count>(library.ecc, card);
  fields["ecc_corrected_volatile"] = amd_field(errors, errors.value.corrected, 1, meaning);
  fields["ecc_uncorrected_volatile"] = amd_field(errors, errors.value.uncorrected, 1, meaning);
  fields["page_retirement_pending"] = retirement(library, card);
  auto const used = amd_ask<abi::memory_use>(library.memory, card);
  constexpr double mebibyte = 1 << 20;
  fields["memory_used_bytes"] = amd_field(used, used.value.used_mib, 1 / mebibyte, meaning);
}

struct found_card {
  abi::processor card{};
  std::string why;
};
found_card find_card(symbols const& library, device_identity const& wanted) {
  auto const address = parse_pci_address(wanted.pci_address);
  if (!address) return {nullptr, "no PCI address to find the device by"};
  auto const bits = std::uint64_t{address->domain} << 16U | address->bus << 8U |
                    address->device << 3U | address->function;
  auto const got = amd_ask<abi::processor>(library.by_address, bits);
  if (got) return {got.value, {}};
  return {nullptr,
          amd_explain(got.from, got.code, meaning(got.code)) + " for PCI " + to_string(*address)};
}

}  // namespace

struct amd_smi::table {
  explicit table(std::vector<std::string> const& names) : library{load_library(names, why)} {
    if (library.loaded == nullptr) return;
    if (library.init.call == nullptr) {
      why = names.front() + " has no amdsmi_init: it is not amd_smi";
      return;
    }
    auto const version = amd_ask<abi::version>(library.version);
    if (!version || version.value.major < abi::oldest_major ||
        version.value.major > abi::newest_major) {
      why = names.front() + " is of version " +
            (version ? std::to_string(version.value.major) : "unknown") +
            ", and only 26 (ROCm 7) and 27 are known";
      return;
    }
    auto const code = library.init.call(abi::init_gpus);
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

amd_smi::amd_smi(std::vector<std::string> const& libraries)
    : table_(std::make_unique<table>(libraries)) {}
amd_smi::~amd_smi() = default;

bool amd_smi::available() const noexcept {
  return table_->why.empty();
}
std::string const& amd_smi::why_not() const noexcept {
  return table_->why;
}

void amd_smi::add_identity(device_identity& identity) const {
  if (!available()) return;
  std::lock_guard const alone(table_->guard);
  auto const found = find_card(table_->library, identity);
  if (found.card == nullptr) return;
  auto const board = amd_ask<abi::board>(table_->library.board, found.card);
  auto const text = [](auto const& raw) {
    return one_line(std::string(raw, std::find(raw, raw + sizeof raw, '\0')));
  };
  if (board && board.value.model[0] != '\0') identity.board_part = text(board.value.model);
  if (board && board.value.serial[0] != '\0') identity.serial = text(board.value.serial);
  auto const cap = amd_ask<abi::power_cap>(table_->library.power_cap, found.card, 0U);
  if (cap && cap.value.cap_uw > 0) identity.power_limit_w = double(cap.value.cap_uw) / 1e6;
  if (cap && cap.value.default_uw > 0)
    identity.power_limit_default_w = double(cap.value.default_uw) / 1e6;
}

health_snapshot amd_smi::snapshot(device_identity const& wanted) const {
  if (!available()) return nothing_known(table_->why);
  std::lock_guard const alone(table_->guard);
  auto const found = find_card(table_->library, wanted);
  if (found.card == nullptr) return nothing_known(found.why);
  auto fields = nothing_known("amd_smi has nothing that corresponds");
  add_clocks(fields, table_->library, found.card);
  add_power_and_temperature(fields, table_->library, found.card);
  add_links(fields, table_->library, found.card);
  add_memory(fields, table_->library, found.card);
  return fields;
}

std::vector<device_process> amd_smi::processes(device_identity const& wanted,
                                               std::vector<std::uint64_t> const& own) const {
  if (!available()) return {};
  std::lock_guard const alone(table_->guard);
  auto const& library = table_->library;
  auto const found = find_card(library, wanted);
  if (found.card == nullptr || library.processes.call == nullptr) return {};
  std::vector<abi::process> all(1024);
  auto count = static_cast<std::uint32_t>(all.size());
  if (library.processes.call(found.card, &count, all.data()) != amd_code::success) return {};
  all.resize(std::min<std::size_t>(count, all.size()));
  std::vector<device_process> others;
  for (auto const& process : all) {
    if (std::find(own.begin(), own.end(), process.pid) != own.end()) continue;
    auto const* const end = std::find(process.name, process.name + sizeof process.name, '\0');
    bool const active = process.cu_occupancy > 0 && process.cu_occupancy != UINT32_MAX;
    others.push_back({process.pid, printable(process.name, std::size_t(end - process.name)),
                      process.memory.vram, active});
  }
  return others;
}

}  // namespace bandgate
