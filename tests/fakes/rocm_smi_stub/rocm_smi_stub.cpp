// SPDX-License-Identifier: Apache-2.0
/// A librocm_smi64.so without a GPU: two cards, of which that at PCI 0000:0c:00.0 is the second. It
/// declares rocm_smi's interface for itself, so that it also holds the product's declarations to
/// it.
///
/// ROCM_SMI_STUB, read at each call, is a list of words separated by commas:
///   init=N         rsmi_init returns N
///   refuse=N       every question about a card is answered N (2: not supported)
///   layout=N       clocks as ROCm 5 or 6 (the default) lays them out; 0: neither
///   zero           clocks and powers are 0
///   idle           the process that is listed does not compute
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
typedef int rsmi_status_t;
typedef struct {
  uint32_t num_supported, current;
  uint64_t frequency[32];
} rsmi_frequencies_5_t;
typedef struct {
  bool has_deep_sleep;
  uint32_t num_supported, current;
  uint64_t frequency[33];
} rsmi_frequencies_6_t;
typedef struct {
  uint64_t correctable_err, uncorrectable_err;
} rsmi_error_count_t;
typedef struct {
  uint64_t page_address, page_size;
  uint32_t status;
} rsmi_retired_page_record_t;
typedef struct {
  uint32_t process_id, pasid;
  uint64_t vram_usage, sdma_usage;
  uint32_t cu_occupancy;
} rsmi_process_info_t;
}

#define STUB extern "C" __attribute__((visibility("default"))) rsmi_status_t

namespace {

std::string word(char const* name) {
  char const* const all = std::getenv("ROCM_SMI_STUB");
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

template <class T>
rsmi_status_t give(uint32_t card, T* to, T value) {
  if (card > 1) return 1;
  if (int const refusal = number("refuse=", 0); refusal != 0) return refusal;
  *to = card == 0 ? T{} : value;  // the first card is of no use to anybody
  return 0;
}
uint64_t unless_zero(uint64_t value) {
  return told("zero") ? 0 : value;
}

}  // namespace

STUB rsmi_init(uint64_t) {
  return number("init=", 0);
}
STUB rsmi_shut_down() {
  return 0;
}
STUB rsmi_num_monitor_devices(uint32_t* count) {
  *count = 2;
  return 0;
}
STUB rsmi_dev_pci_id_get(uint32_t card, uint64_t* address) {
  // Of the second, with a partition's number.
  *address = card == 0 ? 0x2200 : 0x30000c00;
  return card > 1 ? 1 : 0;
}
STUB rsmi_dev_gpu_clk_freq_get(uint32_t card, uint32_t type, void* to) {
  auto const low = unless_zero(type == 4 ? 900000000 : 500000000);
  auto const high = unless_zero(type == 4 ? 1300000000 : 2100000000);
  rsmi_frequencies_5_t const old{2, 1, {low, high}};
  rsmi_frequencies_6_t const current{true, 3, 1, {low, high, high + unless_zero(1000000)}};
  switch (number("layout=", 6)) {
    case 5:
      return give(card, static_cast<rsmi_frequencies_5_t*>(to), old);
    case 6:
      return give(card, static_cast<rsmi_frequencies_6_t*>(to), current);
    default:
      std::memset(to, 0xee, sizeof old);
      return 0;
  }
}
STUB rsmi_dev_temp_metric_get(uint32_t card, uint32_t sensor, uint32_t metric, int64_t* degrees) {
  int64_t const critical = sensor == 2 ? 105000 : 100000;
  return give<int64_t>(card, degrees, metric == 5 ? critical : sensor == 2 ? 44000 : 61500);
}
STUB rsmi_dev_power_ave_get(uint32_t card, uint32_t, uint64_t* microwatts) {
  return give<uint64_t>(card, microwatts, unless_zero(240000000));
}
STUB rsmi_dev_power_cap_get(uint32_t card, uint32_t, uint64_t* microwatts) {
  return give<uint64_t>(card, microwatts, unless_zero(250000000));
}
STUB rsmi_dev_power_cap_default_get(uint32_t card, uint64_t* microwatts) {
  return give<uint64_t>(card, microwatts, unless_zero(300000000));
}
STUB rsmi_dev_busy_percent_get(uint32_t card, uint32_t* percent) {
  return give<uint32_t>(card, percent, 98);
}
STUB rsmi_dev_pci_replay_counter_get(uint32_t card, uint64_t* count) {
  return give<uint64_t>(card, count, 3);
}
STUB rsmi_dev_ecc_count_get(uint32_t card, uint64_t block, rsmi_error_count_t* count) {
  return block == 1 ? give(card, count, {7, 1}) : 1;
}
STUB rsmi_dev_memory_usage_get(uint32_t card, uint32_t type, uint64_t* used) {
  return type == 0 ? give<uint64_t>(card, used, 2ULL << 30) : 1;
}
STUB rsmi_dev_memory_reserved_pages_get(uint32_t card, uint32_t* count,
                                        rsmi_retired_page_record_t* pages) {
  if (pages != nullptr) pages[0] = {0x1000, 0x1000, 1};
  return give<uint32_t>(card, count, 1);
}
STUB rsmi_compute_process_info_get(rsmi_process_info_t* all, uint32_t* count) {
  if (*count < 3) return 11;
  all[0] = {4001, 1, 2ULL << 30, 0, told("idle") ? 0U : 55U};
  all[1] = {4002, 2, 1ULL << 30, 0, 99};  // on the first card
  all[2] = {77, 3, 1ULL << 30, 0, 99};
  *count = 3;
  return 0;
}
STUB rsmi_compute_process_gpus_get(uint32_t pid, uint32_t* cards, uint32_t* count) {
  if (*count < 1) return 11;
  cards[0] = pid == 4002 ? 0 : 1;
  *count = 1;
  return 0;
}
