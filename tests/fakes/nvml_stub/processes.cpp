// SPDX-License-Identifier: Apache-2.0
/// Who computes.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "settings.hpp"

using stub::success;

extern "C" {
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

constexpr unsigned mps_server = 4100;

std::vector<unsigned> pids(char const* name, char const* otherwise) {
  std::vector<unsigned> all;
  for (auto const& text : stub::list(name, otherwise))
    all.push_back(static_cast<unsigned>(std::stoul(text)));
  return all;
}

// Another's process that computes, another's idle context, and one that the test calls its own.
std::vector<unsigned> listed() {
  auto all = pids("processes", stub::told("healthy") ? "" : "4001+4002+77");
  if (stub::busy_one_gone())
    std::erase_if(all, [](unsigned pid) {
      auto const gone = pids("active", "4001");
      return std::find(gone.begin(), gone.end(), pid) != gone.end();
    });
  if (stub::told("own")) all.push_back(static_cast<unsigned>(::getpid()));
  if (stub::told("many"))
    for (unsigned i = 3; i < 203; ++i) all.push_back(5000 + i);
  return all;
}

template <class Entry>
nvmlReturn_t list_processes(std::vector<unsigned> const& all, unsigned* count, Entry* entries) {
  if (*count < all.size()) {
    *count = static_cast<unsigned>(all.size());
    return stub::too_small;
  }
  for (unsigned i = 0; i < all.size(); ++i) {
    std::memset(&entries[i], 0xff, sizeof(Entry));
    entries[i].pid = all[i] + (stub::told("as-host") && all[i] < 5000 ? 10000 : 0);
    entries[i].usedGpuMemory = all[i] == 4002 ? ~0ULL : (i + 1ULL) << 30;
  }
  *count = static_cast<unsigned>(all.size());
  return success;
}

template <class Entry>
nvmlReturn_t compute_processes(char const* function, unsigned* count, Entry* entries) {
  auto const refusal = stub::permitted(function);
  if (refusal != success) return refusal;
  stub::listed_once();
  return list_processes(listed(), count, entries);
}

}  // namespace

STUB nvmlSystemGetProcessName(unsigned pid, char* text, unsigned length) {
  return stub::give_text(__func__, text, length,
                         pid == 4001         ? "/usr/bin/train \x1b[31m\xff"
                         : pid == mps_server ? "/usr/bin/nvidia-cuda-mps-server"
                                             : "python3");
}
STUB nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned* count,
                                          nvmlProcessInfo_v1_t* entries) {
  return compute_processes(__func__, count, entries);
}

#ifndef NVML_STUB_OLD

static std::vector<unsigned> active() {
  if (stub::told("idle") || stub::busy_one_gone()) return {};
  return pids("active", "4001");
}

STUB nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                             nvmlProcessInfo_v2_t* entries) {
  return compute_processes(__func__, count, entries);
}
STUB nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                nvmlProcessInfo_v2_t* entries) {
  auto const refusal = stub::permitted(__func__);
  return refusal == success ? list_processes(pids("mps", ""), count, entries) : refusal;
}
STUB nvmlDeviceGetProcessUtilization(nvmlDevice_t, nvmlProcessUtilizationSample_t* samples,
                                     unsigned* count, unsigned long long since) {
  if (stub::told("no-samples")) return stub::not_supported;
  nvmlReturn_t const refusal = stub::permitted(__func__);
  if (refusal != success) return refusal;
  auto const now = static_cast<unsigned long long>(std::time(nullptr) + 1) * 1000000ULL;
  auto const busy = active();
  if (busy.empty() || now < since || *count < busy.size() + 2) return stub::not_found;
  unsigned given = 0;
  for (auto const pid : busy) samples[given++] = {pid, now, 88, 30, 0, 0};
  samples[given++] = {4002, now - 3600000000ULL, 70, 30, 0, 0};  // an hour ago
  samples[given++] = {4002, now, 0, 0, 0, 0};
  *count = given;
  return success;
}

#endif
