// SPDX-License-Identifier: Apache-2.0
/// Clocks, power, temperature, PCIe and memory.
#include "settings.hpp"

using stub::amount;
using stub::give;
using stub::give_amount;
using stub::give_number;
using stub::success;
using stub::value;

extern "C" {
typedef struct {
  unsigned gpu, memory;
} nvmlUtilization_t;
typedef struct {
  unsigned version;
  int sensorType, temperature;
} nvmlTemperature_t;
typedef struct {
  unsigned long long total, free, used;
} nvmlMemory_t;
typedef struct {
  unsigned version;
  unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;
typedef struct {
  unsigned version, bChannelRepairPending, bTpcRepairPending;
} nvmlRepairStatus_t;
typedef struct {
  unsigned multiprocessorCount, copyEngines, decoders, encoders, jpegs, ofas;
  unsigned gpuInstanceSliceCount, computeInstanceSliceCount;
  unsigned long long memorySizeMB;
} nvmlDeviceAttributes_t;
}

namespace {

constexpr double gib = 1 << 30;

/// A slice has an eighth of the card's memory.
double share(nvmlDevice_t device, double of_card) {
  return of_card / (device->card == nullptr ? 1 : 8);
}
double total(nvmlDevice_t device) {
  return share(device, value("memory-total", 141 * gib));
}
unsigned long long whole(double number) {
  return static_cast<unsigned long long>(number);
}

}  // namespace

STUB nvmlDeviceGetEccMode(nvmlDevice_t, int* current, int* pending) {
  *pending = static_cast<int>(value("ecc-pending", 0, 1));
  return give(__func__, current, static_cast<int>(value("ecc", 1)));
}
STUB nvmlDeviceGetClockInfo(nvmlDevice_t device, int kind, unsigned* mhz) {
  if (kind == 2)
    return give_amount(__func__, mhz, "memory-clock", device->memory_clock, device->memory_clock);
  return give_amount(__func__, mhz, "sm-clock", 1980, 1980);
}
STUB nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int kind, unsigned* mhz) {
  if (kind == 2)
    return give_amount(__func__, mhz, "memory-clock-max", device->memory_clock,
                       device->memory_clock);
  return give_amount(__func__, mhz, "sm-clock-max", 1985, 1980);
}
STUB nvmlDeviceGetTemperature(nvmlDevice_t, int, unsigned* degrees) {
  return give_number(__func__, degrees, "temperature", 41, 41);
}
STUB nvmlDeviceGetTemperatureThreshold(nvmlDevice_t, int kind, unsigned* degrees) {
  if (kind == 1) return give_amount(__func__, degrees, "slowdown", 87, 87);
  if (kind == 2) return give_amount(__func__, degrees, "memory-max", 95, 95);
  return stub::invalid_argument;
}
STUB nvmlDeviceGetPerformanceState(nvmlDevice_t, int* state) {
  return give(__func__, state, stub::told("zero") ? 32 : static_cast<int>(value("pstate", 0)));
}
STUB nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* milliwatts) {
  auto const refusal = give_amount(__func__, milliwatts, "power-mw", 412345, 412345);
  if (refusal == success && stub::told("power"))
    *milliwatts = static_cast<unsigned>(value("power", 0) * 1000);
  return refusal;
}
STUB nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned* milliwatts) {
  auto const refusal = give_amount(__func__, milliwatts, "power-limit", 500, 700);
  if (refusal == success) *milliwatts *= 1000;
  return refusal;
}
STUB nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t, unsigned* milliwatts) {
  auto const refusal = give_amount(__func__, milliwatts, "power-limit-default", 700, 700);
  if (refusal == success) *milliwatts *= 1000;
  return refusal;
}
STUB nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t* use) {
  bool const quiet = stub::told("idle") || stub::busy_one_gone();
  auto const gpu = quiet ? 0 : static_cast<unsigned>(value("utilization", 97, 0));
  return give(__func__, use, nvmlUtilization_t{gpu, gpu / 2});
}
STUB nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t, unsigned* generation) {
  return give_amount(__func__, generation, "pcie-gen", 4, 5);
}
STUB nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned* generation) {
  return give_amount(__func__, generation, "pcie-gen-max", 5, 5);
}
STUB nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned* lanes) {
  return give_amount(__func__, lanes, "pcie-width", 8, 16);
}
STUB nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned* lanes) {
  return give_amount(__func__, lanes, "pcie-width-max", 16, 16);
}
STUB nvmlDeviceGetTotalEccErrors(nvmlDevice_t, int kind, int counter, unsigned long long* errors) {
  auto const refusal = stub::permitted(__func__);
  if (refusal != success) return refusal;
  if (kind == 0)
    *errors = whole(counter == 0 ? value("ecc-corrected", 5, 0) : 77);
  else
    *errors = whole(counter == 0 ? value("ecc-uncorrected", 2, 0) : value("ecc-aggregate", 9, 0));
  return success;
}
STUB nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  auto const used = share(device, value("memory-used", 2 * gib, 0) + value("memory-reserved", gib));
  return give(__func__, memory, {whole(total(device)), whole(total(device) - used), whole(used)});
}

#ifdef NVML_STUB_OLD

STUB nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long* reasons) {
  return give(__func__, reasons, whole(value("reasons", 0x4)));
}

#else

STUB nvmlDeviceGetTemperatureV(nvmlDevice_t, nvmlTemperature_t* temperature) {
  if (temperature->version != (sizeof(nvmlTemperature_t) | 1U << 24U)) return stub::wrong_version;
  unsigned degrees{};
  auto const refusal = give_number(__func__, &degrees, "temperature", 41, 41);
  temperature->temperature = static_cast<int>(degrees);
  return refusal;
}
STUB nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t, unsigned long long* reasons) {
  auto const refusal = stub::permitted(__func__);
  if (refusal == success) *reasons = whole(value("reasons", 0x48, 0));
  return refusal;
}
STUB nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t, unsigned* generation) {
  return give_amount(__func__, generation, "pcie-gen-card", 5, 5);
}
STUB nvmlDeviceGetPcieReplayCounter(nvmlDevice_t, unsigned* replays) {
  return give_number(__func__, replays, "replays", 0, 0);
}
STUB nvmlDeviceGetRemappedRows(nvmlDevice_t, unsigned* correctable, unsigned* uncorrectable,
                               unsigned* pending, unsigned* failed) {
  *correctable = 1;
  *uncorrectable = 2;
  *failed = static_cast<unsigned>(value("remap-failure", 0));
  return give_number(__func__, pending, "remap-pending", 1, 0);
}
STUB nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t, int* pending) {
  return give(__func__, pending, static_cast<int>(value("retirement", 0)));
}
STUB nvmlDeviceGetRepairStatus(nvmlDevice_t, nvmlRepairStatus_t* status) {
  if (status->version != (sizeof(nvmlRepairStatus_t) | 1U << 24U)) return stub::wrong_version;
  return give_number(__func__, &status->bTpcRepairPending, "repair", 0, 0);
}
STUB nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  if (memory->version != (sizeof(nvmlMemory_v2_t) | 2U << 24U)) return stub::wrong_version;
  auto const used = share(device, value("memory-used", 2 * gib, 0));
  auto const reserved = share(device, value("memory-reserved", gib));
  return give(__func__, memory,
              {memory->version, whole(total(device)), whole(reserved),
               whole(total(device) - used - reserved), whole(used)});
}
STUB nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  *pending = 0;
  return give(__func__, current, device->mig_mode);
}
STUB nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t* card) {
  return give(__func__, card, device->card);
}
STUB nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t, unsigned* count) {
  return give(__func__, count, 7U);
}
STUB nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t card, unsigned index, nvmlDevice_t* device) {
  auto const refusal = give(__func__, device, stub::slice(card, index));
  return refusal == success && *device == nullptr ? stub::not_found : refusal;
}
STUB nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  if (device->card == nullptr) return stub::not_supported;
  nvmlDeviceAttributes_t mine{};
  mine.multiprocessorCount = 16;
  mine.memorySizeMB = 17 * 1024;
  return give(__func__, attributes, mine);
}

#endif
