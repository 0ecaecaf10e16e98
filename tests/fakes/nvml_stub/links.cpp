// SPDX-License-Identifier: Apache-2.0
/// NVLink, the fabric, and the fields that are asked by number.
#include "settings.hpp"

using stub::give;
using stub::success;
using stub::value;

extern "C" {
typedef union {
  double dVal;
  unsigned uiVal;
  unsigned long long ullVal;
} nvmlValue_t;
typedef struct {
  unsigned fieldId, scopeId;
  long long timestamp, latencyUsec;
  int valueType;
  nvmlReturn_t nvmlReturn;
  nvmlValue_t value;
} nvmlFieldValue_t;
typedef struct {
  unsigned long long referenceTime, violationTime;
} nvmlViolationTime_t;
typedef struct {
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned char state;
} nvmlGpuFabricInfo_t;
typedef struct {
  unsigned version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned char state;
  unsigned healthMask;
} nvmlGpuFabricInfo_v2_t;
typedef struct {
  unsigned version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned char state;
  unsigned healthMask;
  unsigned char healthSummary;
} nvmlGpuFabricInfo_v3_t;
}

#ifdef NVML_STUB_OLD

STUB nvmlDeviceGetViolationStatus(nvmlDevice_t, int policy, nvmlViolationTime_t* time) {
  auto const refusal = stub::permitted(__func__);
  if (refusal != success) return refusal;
  constexpr char const* names[] = {"sw-power-cap", "sw-thermal", "sync-boost",
                                   "board-limit",  "",           "reliability"};
  if (policy < 0 || policy > 5) return stub::invalid_argument;
  time->violationTime = static_cast<unsigned long long>(value(names[policy], 0));
  return success;
}

#else

namespace {

/// Where the counters of heat and brake stand in this library's numbering; 0: it has none.
unsigned thermal_fields() {
  if (stub::told("thermal-fields")) return static_cast<unsigned>(value("thermal-fields", 0));
  auto const version = stub::text("library", "13.580.159");
  auto const branch = std::stoi(version.substr(version.find('.') + 1));
  auto const release = std::stoi(version.substr(version.rfind('.') + 1));
  if (branch > 580 || (branch == 580 && release >= 82)) return 269;
  return branch >= 575 ? 251 : 0;
}

bool is_link(unsigned link) {
  return link < static_cast<unsigned>(value("links", 18));
}

void count(nvmlFieldValue_t& field, char const* name) {
  field.valueType = 3;
  field.value.ullVal = static_cast<unsigned long long>(value(name, 0));
}

void answer(nvmlFieldValue_t& field) {
  field.nvmlReturn = success;
  auto const thermal = thermal_fields();
  if (thermal != 0 && field.fieldId >= thermal && field.fieldId < thermal + 3) {
    constexpr char const* names[] = {"sw-thermal", "hw-thermal", "power-brake"};
    return count(field, names[field.fieldId - thermal]);
  }
  switch (field.fieldId) {
    case 74:
      return count(field, "sw-power-cap");
    case 76:
      return count(field, "sync-boost");
    case 77:
      return count(field, "board-limit");
    case 79:
      return count(field, "reliability");
    case 82:
      field.valueType = 1;
      field.value.uiVal = stub::amount("memory-temperature", 52, 52);
      return;
    case 94:
      field.valueType = 1;
      field.value.uiVal = static_cast<unsigned>(value("replays", 0));
      return;
    case 161:
    case 162:
    case 163:
      if (!is_link(field.scopeId)) break;
      if (stub::told("link-errors-fail") && field.scopeId == 3) {
        field.nvmlReturn = stub::unknown;
        return;
      }
      field.valueType = 3;
      field.value.ullVal = field.fieldId == 161 && field.scopeId == 0
                               ? static_cast<unsigned long long>(value("link-errors", 0))
                               : 0;
      return;
    case 251:
    case 252:
    case 253:
    case 269:
    case 270:
    case 271:  // power smoothing
      field.valueType = 1;
      field.value.uiVal = 1;
      return;
    default:
      break;
  }
  field.nvmlReturn = stub::not_supported;
}

}  // namespace

STUB nvmlDeviceGetFieldValues(nvmlDevice_t, int count, nvmlFieldValue_t* fields) {
  auto const refusal = stub::permitted(__func__);
  if (refusal != success) return refusal;
  for (int i = 0; i < count; ++i) {
    if (stub::told("no-fields"))
      fields[i].nvmlReturn = stub::not_supported;
    else
      answer(fields[i]);
  }
  return success;
}
STUB nvmlDeviceGetNvLinkState(nvmlDevice_t, unsigned link, int* active) {
  if (!is_link(link)) {
    auto const refusal = stub::permitted(__func__);
    return refusal == success ? stub::invalid_argument : refusal;
  }
  auto const down = static_cast<unsigned>(value("links-down", 0));
  return give(__func__, active, link < down ? 0 : 1);
}
STUB nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t, unsigned link, int kind,
                                     unsigned long long* errors) {
  auto const refusal = stub::permitted(__func__);
  if (refusal != success) return refusal;
  if (!is_link(link) || kind > 3) return stub::invalid_argument;
  bool const counted = link == 0 && kind == 0;
  *errors = counted ? static_cast<unsigned long long>(value("link-errors", 0)) : 0;
  return success;
}

STUB nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t, void* info) {
  unsigned version{};
  std::memcpy(&version, info, sizeof version);
  auto const newest = static_cast<int>(value("fabric-layout", 3));
  if (newest < 2) return stub::no_function;
  auto const state = static_cast<unsigned char>(value("fabric", 3));
  auto const status = static_cast<nvmlReturn_t>(value("fabric-status", 0));
  if (version == (sizeof(nvmlGpuFabricInfo_v3_t) | 3U << 24U) && newest >= 3) {
    nvmlGpuFabricInfo_v3_t const mine{version, {}, status, 1, state, 0, 1};
    return give(__func__, static_cast<nvmlGpuFabricInfo_v3_t*>(info), mine);
  }
  if (version == (sizeof(nvmlGpuFabricInfo_v2_t) | 2U << 24U)) {
    nvmlGpuFabricInfo_v2_t const mine{version, {}, status, 1, state, 0};
    return give(__func__, static_cast<nvmlGpuFabricInfo_v2_t*>(info), mine);
  }
  return stub::wrong_version;
}
STUB nvmlDeviceGetGpuFabricInfo(nvmlDevice_t, nvmlGpuFabricInfo_t* info) {
  nvmlGpuFabricInfo_t const mine{{},
                                 static_cast<nvmlReturn_t>(value("fabric-status", 0)),
                                 1,
                                 static_cast<unsigned char>(value("fabric", 3))};
  return give(__func__, info, mine);
}

#endif
