// SPDX-License-Identifier: Apache-2.0
/// A libamd_smi.so (ROCm 7) without a GPU: one card, at PCI 0000:0c:00.0. It declares amd_smi's
/// interface for itself, so that it also holds the product's declarations to it.
///
/// AMD_SMI_STUB, read at each call, is a list of words separated by commas:
///   init=N         amdsmi_init returns N
///   version=N      the library's major version, 26
///   refuse=N       every question about the card is answered N (2: not supported)
///   unknown        values are all ones, as for what a card does not have
///   zero           clocks, powers and links are 0
///   idle           the process that is listed does not compute
///   link-down      one of seven xGMI links is down
///   page-pending   one of two bad pages waits for its retirement
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
typedef int amdsmi_status_t;
typedef void* amdsmi_processor_handle;
typedef union {
  struct {
    uint64_t function_number : 3;
    uint64_t device_number : 5;
    uint64_t bus_number : 8;
    uint64_t domain_number : 48;
  } bdf;
  uint64_t as_uint;
} amdsmi_bdf_t;
typedef struct {
  uint32_t major, minor, release;
  char const* build;
} amdsmi_version_t;
typedef struct {
  uint32_t clk, min_clk, max_clk;
  uint8_t clk_locked, clk_deep_sleep;
  uint32_t reserved[4];
} amdsmi_clk_info_t;
typedef struct {
  uint64_t socket_power;
  uint32_t current_socket_power, average_socket_power;
  uint64_t gfx_voltage, soc_voltage, mem_voltage;
  uint32_t power_limit;
  uint64_t reserved[18];
} amdsmi_power_info_t;
typedef struct {
  uint64_t power_cap, default_power_cap, dpm_cap, min_power_cap, max_power_cap, reserved[3];
} amdsmi_power_cap_info_t;
typedef struct {
  uint32_t gfx_activity, umc_activity, mm_activity, reserved[13];
} amdsmi_engine_usage_t;
typedef struct {
  struct {
    uint16_t max_pcie_width;
    uint32_t max_pcie_speed, pcie_interface_version, slot_type, max_pcie_interface_version;
    uint64_t reserved[9];
  } pcie_static;
  struct {
    uint16_t pcie_width;
    uint32_t pcie_speed, pcie_bandwidth;
    uint64_t pcie_replay_count, pcie_l0_to_recovery_count, pcie_replay_roll_over_count;
    uint64_t pcie_nak_sent_count, pcie_nak_received_count;
    uint32_t pcie_lc_perf_other_end_recovery_count;
    uint64_t reserved[12];
  } pcie_metric;
  uint64_t reserved[32];
} amdsmi_pcie_info_t;
typedef struct {
  uint64_t correctable_count, uncorrectable_count, deferred_count, reserved[5];
} amdsmi_error_count_t;
typedef struct {
  uint64_t page_address, page_size;
  uint32_t status;
} amdsmi_retired_page_record_t;
typedef struct {
  uint32_t vram_total, vram_used, reserved[2];
} amdsmi_vram_usage_t;
typedef struct {
  uint32_t total_links;
  uint32_t status[8];
  uint64_t reserved[7];
} amdsmi_xgmi_link_status_t;
typedef struct {
  char model_number[256], product_serial[256], fru_id[256], product_name[256];
  char manufacturer_name[256];
  uint64_t reserved[64];
} amdsmi_board_info_t;
typedef struct {
  char name[256];
  uint32_t pid;
  uint64_t mem;
  struct {
    uint64_t gfx, enc;
    uint32_t reserved[12];
  } engine_usage;
  struct {
    uint64_t gtt_mem, cpu_mem, vram_mem;
    uint32_t reserved[10];
  } memory_usage;
  char container_name[256];
  uint32_t cu_occupancy;
  uint32_t reserved[11];
} amdsmi_proc_info_t;
}

// ROCm's Python bindings give these sizes.
static_assert(sizeof(amdsmi_clk_info_t) == 32);
static_assert(sizeof(amdsmi_power_info_t) == 192);
static_assert(sizeof(amdsmi_power_cap_info_t) == 64);
static_assert(sizeof(amdsmi_pcie_info_t) == 512);
static_assert(sizeof(amdsmi_error_count_t) == 64);
static_assert(sizeof(amdsmi_xgmi_link_status_t) == 96);
static_assert(sizeof(amdsmi_board_info_t) == 1792);
static_assert(sizeof(amdsmi_proc_info_t) == 704);

#define STUB extern "C" __attribute__((visibility("default"))) amdsmi_status_t

namespace {

int the_card;

std::string word(char const* name) {
  char const* const all = std::getenv("AMD_SMI_STUB");
  std::string const words = std::string(",") + (all == nullptr ? "" : all) + ",";
  auto const at = words.find(std::string(",") + name);
  if (at == std::string::npos) return {};
  return words.substr(at + 1, words.find(',', at + 1) - at - 1);
}
bool told(char const* name) {
  return !word(name).empty();
}
int number(char const* name, int otherwise) {
  auto const found = word(name);
  return found.empty() ? otherwise : std::atoi(found.c_str() + std::strlen(name));
}

/// Fills the answer with all ones first, as the library does with what it does not know.
template <class T, class Fill>
amdsmi_status_t give(amdsmi_processor_handle card, T* to, Fill fill) {
  if (card != &the_card) return 1;
  if (int const refusal = number("refuse=", 0); refusal != 0) return refusal;
  std::memset(to, 0xff, sizeof *to);
  if (!told("unknown")) fill();
  return 0;
}

uint32_t unless_zero(uint32_t value) {
  return told("zero") ? 0 : value;
}

}  // namespace

STUB amdsmi_init(uint64_t) {
  return number("init=", 0);
}
STUB amdsmi_shut_down() {
  return 0;
}
STUB amdsmi_get_lib_version(amdsmi_version_t* version) {
  *version = {static_cast<uint32_t>(number("version=", 26)), 0, 2, ""};
  return 0;
}
STUB amdsmi_get_processor_handle_from_bdf(amdsmi_bdf_t at, amdsmi_processor_handle* card) {
  if (at.bdf.domain_number != 0 || at.bdf.bus_number != 0x0c || at.bdf.device_number != 0)
    return 31;
  *card = &the_card;
  return 0;
}
STUB amdsmi_get_clock_info(amdsmi_processor_handle card, uint32_t type, amdsmi_clk_info_t* info) {
  return give(card, info, [&] {
    info->clk = unless_zero(type == 4 ? 1300 : 2100);
    info->max_clk = unless_zero(type == 4 ? 1300 : 2101);
  });
}
STUB amdsmi_get_temp_metric(amdsmi_processor_handle card, uint32_t sensor, uint32_t metric,
                            int64_t* degrees) {
  if (number("refuse=", 0) == 0 && told("unknown")) return 2;
  return give(card, degrees, [&] {
    *degrees = metric == 5 ? (sensor == 2 ? 105 : 100) : (sensor == 2 ? 44 : 61);
  });
}
STUB amdsmi_get_power_info(amdsmi_processor_handle card, amdsmi_power_info_t* info) {
  return give(card, info, [&] { info->socket_power = unless_zero(734); });
}
STUB amdsmi_get_power_cap_info(amdsmi_processor_handle card, uint32_t,
                               amdsmi_power_cap_info_t* info) {
  return give(card, info, [&] {
    info->power_cap = unless_zero(650000000);
    info->default_power_cap = unless_zero(750000000);
  });
}
STUB amdsmi_get_gpu_activity(amdsmi_processor_handle card, amdsmi_engine_usage_t* usage) {
  return give(card, usage, [&] { usage->gfx_activity = 98; });
}
STUB amdsmi_get_pcie_info(amdsmi_processor_handle card, amdsmi_pcie_info_t* info) {
  return give(card, info, [&] {
    info->pcie_static.max_pcie_speed = unless_zero(32000);
    info->pcie_metric.pcie_speed = unless_zero(16000);
    info->pcie_metric.pcie_width = static_cast<uint16_t>(unless_zero(8));
    info->pcie_metric.pcie_replay_count = 3;
  });
}
STUB amdsmi_get_gpu_pci_replay_counter(amdsmi_processor_handle card, uint64_t* count) {
  return give(card, count, [&] { *count = 4; });
}
STUB amdsmi_get_gpu_total_ecc_count(amdsmi_processor_handle card, amdsmi_error_count_t* count) {
  return give(card, count, [&] {
    count->correctable_count = 7;
    count->uncorrectable_count = 1;
  });
}
STUB amdsmi_get_gpu_bad_page_info(amdsmi_processor_handle card, uint32_t* count,
                                  amdsmi_retired_page_record_t* pages) {
  uint32_t ignored{};
  if (auto const refusal = give(card, &ignored, [] {}); refusal != 0) return refusal;
  *count = 2;
  if (pages == nullptr) return 0;
  pages[0] = {0x1000, 0x1000, 0};
  pages[1] = {0x2000, 0x1000, told("page-pending") ? 1U : 0U};
  return 0;
}
STUB amdsmi_get_gpu_vram_usage(amdsmi_processor_handle card, amdsmi_vram_usage_t* usage) {
  return give(card, usage, [&] { usage->vram_used = 4976; });
}
STUB amdsmi_get_gpu_xgmi_link_status(amdsmi_processor_handle card, amdsmi_xgmi_link_status_t* all) {
  if (number("refuse=", 0) == 0 && told("unknown")) return 2;
  return give(card, all, [&] {
    all->total_links = 8;
    for (auto& status : all->status) status = 1;
    all->status[0] = 2;  // to itself: disabled
    if (told("link-down")) all->status[1] = 0;
  });
}
STUB amdsmi_get_gpu_board_info(amdsmi_processor_handle card, amdsmi_board_info_t* board) {
  return give(card, board, [&] {
    std::memset(board, 0, sizeof *board);
    std::strcpy(board->model_number, "102-G30211-0C");
    std::strcpy(board->product_serial, "692251001124");
  });
}
STUB amdsmi_get_gpu_process_list(amdsmi_processor_handle card, uint32_t* count,
                                 amdsmi_proc_info_t* all) {
  return give(card, all, [&] {
    std::memset(all, 0, 2 * sizeof *all);
    std::strcpy(all[0].name, "rvs\x1b[31m");
    all[0].pid = 4001;
    all[0].memory_usage.vram_mem = 2ULL << 30;
    all[0].cu_occupancy = told("idle") ? 0 : 55;
    all[1].pid = 77;
    *count = 2;
  });
}
