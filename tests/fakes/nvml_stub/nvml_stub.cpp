// SPDX-License-Identifier: Apache-2.0
/// A libnvidia-ml.so.1 without a GPU: three cards, in another order than the bus has them. It
/// declares NVML's interface for itself, so that it also holds the product's declarations to it.
///
/// NVML_STUB, read by nvmlInit, is a list of faults separated by commas:
///   init=N          nvmlInit returns N
///   not-supported   every question about a device is answered "not supported"
///   lost-after=N    after N questions about devices, all are answered "GPU is lost"
///   zero            clocks, links and powers are 0
///   idle            no kernel ran lately
///   no-samples      utilisation by process is not supported
///   as-host         the processes are seen under the host's PIDs
///   many            200 more processes
/// The macro NVML_STUB_OLD leaves out what old drivers lack; NVML_STUB_WIDE answers processes as
/// the drivers 535.43 to 535.86 do.
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {
typedef struct nvmlDevice_st {
  char const *uuid, *pci, *name, *board_part, *serial;
  unsigned device_id, subsystem_id, memory_clock;
  unsigned mig_mode;
  struct nvmlDevice_st* card;  // of a MIG instance
} * nvmlDevice_t;
typedef int nvmlReturn_t;
typedef struct {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;
typedef struct {
  unsigned gpu, memory;
} nvmlUtilization_t;
typedef struct {
  unsigned pid;
  unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;
typedef struct {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
#ifdef NVML_STUB_WIDE
  unsigned long long usedGpuCcProtectedMemory;
#endif
} nvmlProcessInfo_v2_t;
typedef struct {
  unsigned pid;
  unsigned long long timeStamp;
  unsigned smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;
}

namespace {

enum { success = 0, uninitialized = 1, not_supported = 3, not_found = 6, too_small = 7, lost = 15 };

nvmlDevice_st devices[] = {
    {"GPU-c1c1c1c1-0000-0000-0000-000000000001", "0000:c1:00.0", "NVIDIA H200",
     "692-2G520-0282-000", "1650000000001", 0x233510de, 0x18bf10de, 3201, 0, nullptr},
    {"GPU-1b1b1b1b-0000-0000-0000-000000000002", "0000:1b:00.0", "NVIDIA H200",
     "692-2G520-0282-001", "1650000000002", 0x233510de, 0x18bf10de, 3202, 0, nullptr},
    {"GPU-3a3a3a3a-0000-0000-0000-000000000003", "0000:3a:00.0", "NVIDIA H200",
     "692-2G520-0282-001", "1650000000003", 0x233510de, 0x18bf10de, 3203, 1, nullptr},
    {"MIG-12345678-0000-0000-0000-000000000004", "", "NVIDIA H200 MIG 1g.18gb", "", "", 0, 0, 0, 0,
     &devices[2]},
};

bool started, refuse_all, all_zero, idle, no_samples, as_host, many;
long questions_left;  // negative: no end

char const* fault(char const* name) {
  char const* const faults = std::getenv("NVML_STUB");
  char const* const found = faults == nullptr ? nullptr : std::strstr(faults, name);
  return found == nullptr ? nullptr : found + std::strlen(name);
}

nvmlReturn_t start() {
  refuse_all = fault("not-supported") != nullptr;
  all_zero = fault("zero") != nullptr;
  idle = fault("idle") != nullptr;
  no_samples = fault("no-samples") != nullptr;
  as_host = fault("as-host") != nullptr;
  many = fault("many") != nullptr;
  char const* const after = fault("lost-after=");
  questions_left = after == nullptr ? -1 : std::atol(after);
  char const* const refusal = fault("init=");
  if (refusal != nullptr) return std::atoi(refusal);
  started = true;
  return success;
}

nvmlReturn_t permitted() {
  if (!started) return uninitialized;
  if (questions_left == 0) return lost;
  if (questions_left > 0) --questions_left;
  return refuse_all ? not_supported : success;
}

template <class T>
nvmlReturn_t give(T* to, T value) {
  nvmlReturn_t const refusal = permitted();
  if (refusal == success) *to = value;
  return refusal;
}

nvmlReturn_t give_text(char* to, unsigned length, char const* text) {
  nvmlReturn_t const refusal = permitted();
  if (refusal != success) return refusal;
  if (std::strlen(text) + 1 > length) return too_small;
  std::strcpy(to, text);
  return success;
}

unsigned unless_zero(unsigned value) {
  return all_zero ? 0 : value;
}

// Another's process that computes, another's idle context, and one that the test calls its own.
constexpr unsigned pids[] = {4001, 4002, 77};

template <class Entry>
nvmlReturn_t list_processes(unsigned* count, Entry* entries) {
  nvmlReturn_t const refusal = permitted();
  if (refusal != success) return refusal;
  unsigned const listed = many ? 203 : 3;
  if (*count < listed) {
    *count = listed;
    return too_small;
  }
  for (unsigned i = 0; i < listed; ++i) {
    std::memset(&entries[i], 0xff, sizeof(Entry));
    entries[i].pid = i < 3 ? pids[i] + (as_host ? 10000 : 0) : 5000 + i;
    entries[i].usedGpuMemory = i == 1 ? ~0ULL : (i + 1ULL) << 30;
  }
  *count = listed;
  return success;
}

}  // namespace

#define STUB extern "C" __attribute__((visibility("default"))) nvmlReturn_t

STUB nvmlShutdown() {
  started = false;
  return success;
}
STUB nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return give_text(text, length, "580.159.04");
}
STUB nvmlSystemGetProcessName(unsigned pid, char* text, unsigned length) {
  return give_text(text, length, pid == 4001 ? "/usr/bin/train \x1b[31m\xff" : "python3");
}
STUB nvmlDeviceGetHandleByUUID(char const* uuid, nvmlDevice_t* device) {
  if (!started) return uninitialized;
  for (auto& candidate : devices)
    if (std::strcmp(candidate.uuid, uuid) == 0) {
      *device = &candidate;
      return success;
    }
  return not_found;
}
static nvmlReturn_t by_pci(char const* address, nvmlDevice_t* device) {
  if (!started) return uninitialized;
  for (auto& candidate : devices)
    if (std::strcmp(candidate.pci, address) == 0) {
      *device = &candidate;
      return success;
    }
  return not_found;
}
STUB nvmlDeviceGetUUID(nvmlDevice_t device, char* text, unsigned length) {
  return give_text(text, length, device->uuid);
}
STUB nvmlDeviceGetName(nvmlDevice_t device, char* text, unsigned length) {
  return give_text(text, length, device->name);
}
STUB nvmlDeviceGetSerial(nvmlDevice_t device, char* text, unsigned length) {
  return give_text(text, length, device->serial);
}
STUB nvmlDeviceGetVbiosVersion(nvmlDevice_t, char* text, unsigned length) {
  return give_text(text, length, "96.00.D9.00.02");
}
STUB nvmlDeviceGetEccMode(nvmlDevice_t, int* current, int* pending) {
  *pending = 0;
  return give(current, 1);
}
STUB nvmlDeviceGetPersistenceMode(nvmlDevice_t, int* mode) {
  return give(mode, 1);
}
STUB nvmlDeviceGetComputeMode(nvmlDevice_t, int* mode) {
  return give(mode, 3);
}
STUB nvmlDeviceGetClockInfo(nvmlDevice_t device, int kind, unsigned* mhz) {
  return give(mhz, unless_zero(kind == 2 ? device->memory_clock : 1980));
}
STUB nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int kind, unsigned* mhz) {
  return give(mhz, unless_zero(kind == 2 ? device->memory_clock : 1985));
}
STUB nvmlDeviceGetTemperature(nvmlDevice_t, int, unsigned* degrees) {
  return give(degrees, 41U);
}
STUB nvmlDeviceGetPerformanceState(nvmlDevice_t, int* state) {
  return give(state, all_zero ? 32 : 0);
}
STUB nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* milliwatts) {
  return give(milliwatts, unless_zero(412345));
}
STUB nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned* milliwatts) {
  return give(milliwatts, unless_zero(500000));
}
STUB nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t, unsigned* milliwatts) {
  return give(milliwatts, unless_zero(700000));
}
STUB nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t* use) {
  return give(use, nvmlUtilization_t{idle ? 0U : 97U, 40});
}
STUB nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t, unsigned* generation) {
  return give(generation, unless_zero(4));
}
STUB nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned* generation) {
  return give(generation, unless_zero(5));
}
STUB nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned* lanes) {
  return give(lanes, unless_zero(8));
}
STUB nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned* lanes) {
  return give(lanes, unless_zero(16));
}
STUB nvmlDeviceGetTotalEccErrors(nvmlDevice_t, int kind, int counter, unsigned long long* errors) {
  return give(errors, kind == 1 && counter == 0 ? 2ULL : 99ULL);
}
STUB nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned* count,
                                          nvmlProcessInfo_v1_t* entries) {
  return list_processes(count, entries);
}

#ifdef NVML_STUB_OLD

STUB nvmlInit() {
  return start();
}
STUB nvmlDeviceGetHandleByPciBusId(char const* address, nvmlDevice_t* device) {
  return by_pci(address, device);
}
STUB nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long* reasons) {
  return give(reasons, 0x4ULL);
}

#else

STUB nvmlInit_v2() {
  return start();
}
STUB nvmlDeviceGetHandleByPciBusId_v2(char const* address, nvmlDevice_t* device) {
  return by_pci(address, device);
}
STUB nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t, unsigned long long* reasons) {
  return give(reasons, 0x48ULL);
}
STUB nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char* text, unsigned length) {
  return give_text(text, length, device->board_part);
}
STUB nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  nvmlPciInfo_t mine{};
  mine.bus = static_cast<unsigned>(std::strtoul(device->pci + 5, nullptr, 16));
  mine.pciDeviceId = device->device_id;
  mine.pciSubSystemId = device->subsystem_id;
  std::strcpy(mine.busId, device->pci);
  return give(info, mine);
}
STUB nvmlDeviceGetVirtualizationMode(nvmlDevice_t, int* mode) {
  return give(mode, 1);
}
STUB nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  *pending = 0;
  return give(current, device->mig_mode);
}
STUB nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t* card) {
  return give(card, device->card);
}
STUB nvmlDeviceGetPcieReplayCounter(nvmlDevice_t, unsigned* replays) {
  return give(replays, 0U);
}
STUB nvmlDeviceGetRemappedRows(nvmlDevice_t, unsigned* correctable, unsigned* uncorrectable,
                               unsigned* pending, unsigned* failed) {
  *correctable = 1;
  *uncorrectable = 2;
  *failed = 0;
  return give(pending, 1U);
}
STUB nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                             nvmlProcessInfo_v2_t* entries) {
  return list_processes(count, entries);
}
STUB nvmlDeviceGetProcessUtilization(nvmlDevice_t, nvmlProcessUtilizationSample_t* samples,
                                     unsigned* count, unsigned long long since) {
  if (no_samples) return not_supported;
  nvmlReturn_t const refusal = permitted();
  if (refusal != success) return refusal;
  auto const now = static_cast<unsigned long long>(std::time(nullptr) + 1) * 1000000ULL;
  if (idle || now < since || *count < 3) return not_found;
  samples[0] = {4001, now, 88, 30, 0, 0};
  samples[1] = {4002, now - 3600000000ULL, 70, 30, 0, 0};  // an hour ago
  samples[2] = {4002, now, 0, 0, 0, 0};
  *count = 3;
  return success;
}

#endif
