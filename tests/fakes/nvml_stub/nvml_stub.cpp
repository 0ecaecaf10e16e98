// SPDX-License-Identifier: Apache-2.0
/// A libnvidia-ml.so.1 without a GPU: three cards, in another order than the bus has them, and two
/// slices of one. It declares NVML's interface for itself, so that it also holds the product's
/// declarations to it.
///
/// NVML_STUB, read by nvmlInit, is a list of words separated by commas. Without it a card has
/// several ills (the values before the slash below); `healthy` gives the values after it and no
/// other process. Whatever stands beside it is changed from there.
///
/// Faults:
///   init=N            nvmlInit returns N
///   hang              nvmlInit never returns
///   hang-after=N      after N questions about devices, the next never returns
///   fail-after=N      after N questions, all are answered "unknown error" (999)
///   lost-after=N      after N questions, all are answered "GPU is lost" (15)
///   reset-after=N     after N questions, all are answered "reset required" (16)
///   not-supported     every question about a device is answered "not supported" (3)
///   refuse=A+B        the functions A and B are answered "not supported"
///   missing=A+B       the functions A and B are answered "function not found" (13)
///   no-fields         fields (nvmlDeviceGetFieldValues) are answered "not supported", each
///   link-errors-fail  the errors of the fourth link cannot be read
///   library=V         NVML's version, 13.580.159; the numbers of some fields depend on it
///   thermal-fields=N  the first of those numbers, whatever the version
///
/// Who it is:
///   uuid=GPU-…        in place of GPU-1b1b1b1b-0000-0000-0000-000000000002
///   pci=0000:…        in place of 0000:1b:00.0, of the same card
///
/// Values (a number; A>B: A at the first reading, B at the later ones; counters also A+S: A, more
/// by S at each reading, and P%: P percent of the time that the machine is up, in nanoseconds, so
/// that it also advances between two processes):
///   sm-clock=1980 sm-clock-max=1985/1980 memory-clock=3201…3203 memory-clock-max=(the same)
///   pstate=0  temperature=41  memory-temperature=52  slowdown=87  memory-max=95
///   power=412.345  power-limit=500/700  power-limit-default=700 (W)
///   reasons=0x48/0  utilization=97/0 (`idle`: 0)
///   pcie-gen=4/5 pcie-gen-max=5 pcie-gen-card=5 pcie-width=8/16 pcie-width-max=16
///   ecc=1 ecc-pending=0/1 remap-pending=1/0 remap-failure=0 retirement=0 repair=0
///   links=18 links-down=0 fabric=3 (0 none, 1 not started, 2 in progress, 3 completed)
///   fabric-status=0 fabric-layout=3 (newest known: 3, 2 or 1)
///   memory-total memory-used memory-reserved (bytes; a slice has an eighth of each)
///   persistence=1 compute-mode=3/0 mig=0 (1: of the card in `uuid`, which then has no slices)
/// Counters: sw-power-cap hw-thermal sw-thermal power-brake sync-boost board-limit reliability (ns,
///   0) replays=0 link-errors=0 (of the first link) ecc-corrected=5/0 ecc-uncorrected=2/0
///   ecc-aggregate=9/0
///   zero              clocks, links, powers are 0 and the state is unknown
///
/// Processes:
///   processes=A+B     listed, 4001+4002+77 / none
///   active=A          those that compute, 4001 (`idle`: none)
///   active-for=N      after the processes were listed N times, those are gone, the load with them
///   own               this process is listed too
///   mps=A+B           listed as MPS clients too; process 4100 is an MPS server
///   as-host           the processes are seen under the host's PIDs, more by 10000
///   many              200 more
///   no-samples        utilisation by process is not supported
///
/// Of the macros, NVML_STUB_OLD leaves out what old drivers lack; NVML_STUB_WIDE answers processes
/// as the drivers 535.43 to 535.86 do.
#include "settings.hpp"

#include <cstdlib>

extern "C" {
typedef struct {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;
}

STUB nvmlShutdown() {
  stub::stop();
  return stub::success;
}
// Not about a device, so it is answered whatever has befallen one.
static nvmlReturn_t version(char* text, unsigned length, std::string const& answer) {
  if (!stub::started()) return stub::uninitialized;
  if (answer.size() + 1 > length) return stub::too_small;
  std::strcpy(text, answer.c_str());
  return stub::success;
}
STUB nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return version(text, length, "580.159.04");
}
STUB nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return version(text, length, stub::text("library", "13.580.159"));
}
STUB nvmlDeviceGetHandleByUUID(char const* uuid, nvmlDevice_t* device) {
  if (!stub::started()) return stub::uninitialized;
  *device = stub::by_uuid(uuid);
  return *device == nullptr ? stub::not_found : stub::success;
}
static nvmlReturn_t by_pci(char const* address, nvmlDevice_t* device) {
  if (!stub::started()) return stub::uninitialized;
  *device = stub::by_pci(address);
  return *device == nullptr ? stub::not_found : stub::success;
}
STUB nvmlDeviceGetUUID(nvmlDevice_t device, char* text, unsigned length) {
  return stub::give_text(__func__, text, length, device->uuid);
}
STUB nvmlDeviceGetName(nvmlDevice_t device, char* text, unsigned length) {
  return stub::give_text(__func__, text, length, device->name);
}
STUB nvmlDeviceGetSerial(nvmlDevice_t device, char* text, unsigned length) {
  return stub::give_text(__func__, text, length, device->serial);
}
STUB nvmlDeviceGetVbiosVersion(nvmlDevice_t, char* text, unsigned length) {
  return stub::give_text(__func__, text, length, "96.00.D9.00.02");
}
STUB nvmlDeviceGetPersistenceMode(nvmlDevice_t, int* mode) {
  return stub::give(__func__, mode, static_cast<int>(stub::value("persistence", 1)));
}
STUB nvmlDeviceGetComputeMode(nvmlDevice_t, int* mode) {
  return stub::give(__func__, mode, static_cast<int>(stub::value("compute-mode", 3, 0)));
}

#ifdef NVML_STUB_OLD

STUB nvmlInit() {
  return stub::start();
}
STUB nvmlDeviceGetHandleByPciBusId(char const* address, nvmlDevice_t* device) {
  return by_pci(address, device);
}

#else

STUB nvmlInit_v2() {
  return stub::start();
}
STUB nvmlDeviceGetHandleByPciBusId_v2(char const* address, nvmlDevice_t* device) {
  return by_pci(address, device);
}
STUB nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char* text, unsigned length) {
  return stub::give_text(__func__, text, length, device->board_part);
}
STUB nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  nvmlPciInfo_t mine{};
  mine.domain = static_cast<unsigned>(std::strtoul(device->pci, nullptr, 16));
  mine.bus = static_cast<unsigned>(std::strtoul(device->pci + 5, nullptr, 16));
  mine.pciDeviceId = device->device_id;
  mine.pciSubSystemId = device->subsystem_id;
  std::strcpy(mine.busId, device->pci);
  return stub::give(__func__, info, mine);
}
STUB nvmlDeviceGetVirtualizationMode(nvmlDevice_t, int* mode) {
  return stub::give(__func__, mode, 1);
}

#endif
