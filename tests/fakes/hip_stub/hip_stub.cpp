// SPDX-License-Identifier: Apache-2.0
/// A runtime of HIP whose devices are memory of this process, and whose kernels do nothing.
/// HIP_STUB says which devices there are: words as in "gfx90a@c1", an architecture and a bus. With
/// "kernels" in HIP_STUB_LOG the names of those that were registered go to that file.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct device {
  std::string architecture;
  int bus;
};

std::vector<device> devices() {
  std::vector<device> all;
  auto const* const text = std::getenv("HIP_STUB");
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; words >> word;)
    all.push_back(
        {word.substr(0, word.find('@')), std::stoi(word.substr(word.find('@') + 1), nullptr, 16)});
  return all;
}

void log(std::string const& line) {
  auto const* const path = std::getenv("HIP_STUB_LOG");
  if (path == nullptr) return;
  if (auto* const file = std::fopen(path, "a")) {
    std::fputs((line + "\n").c_str(), file);
    std::fclose(file);
  }
}

}  // namespace

extern "C" {

void** __hipRegisterFatBinary(void const*) {
  static void* handle = nullptr;
  return &handle;
}
void __hipRegisterFunction(void**, void const*, char* name, char const*, unsigned, void*, void*,
                           void*, void*, int*) {
  log(name);
}
void __hipRegisterVar(void**, void*, char*, char*, int, std::size_t, int, int) {}
void __hipUnregisterFatBinary(void**) {}

hipError_t hipGetDeviceCount(int* count) {
  *count = static_cast<int>(devices().size());
  return *count == 0 ? hipErrorNoDevice : hipSuccess;
}
hipError_t hipDriverGetVersion(int* version) {
  *version = HIP_VERSION;
  return hipSuccess;
}
hipError_t hipRuntimeGetVersion(int* version) {
  *version = HIP_VERSION;
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t* to, int number) {
  auto const all = devices();
  if (number < 0 || number >= static_cast<int>(all.size())) return hipErrorInvalidDevice;
  auto const& one = all[static_cast<std::size_t>(number)];
  std::memset(to, 0, sizeof *to);
  bool const newer = one.architecture == "gfx942";
  std::snprintf(to->name, sizeof to->name, "AMD Instinct %s", newer ? "MI300X" : "MI250X / MI250");
  std::snprintf(to->gcnArchName, sizeof to->gcnArchName, "%s:sramecc+:xnack-",
                one.architecture.c_str());
  to->pciBusID = one.bus;
  to->totalGlobalMem = std::size_t{64} << 20;
  to->multiProcessorCount = newer ? 304 : 110;
  to->memoryClockRate = newer ? 1300000 : 1600000;
  to->memoryBusWidth = newer ? 8192 : 4096;
  to->l2CacheSize = 1 << 16;
  return hipSuccess;
}
hipError_t hipDeviceGetUuid(hipUUID* to, hipDevice_t number) {
  auto const bus = devices().at(static_cast<std::size_t>(number)).bus;
  char text[17];
  std::snprintf(text, sizeof text, "ddd61b9bea0e5a%02x", static_cast<unsigned>(bus));
  std::memcpy(to->bytes, text, sizeof to->bytes);
  return hipSuccess;
}
hipError_t hipGetLastError() {
  return hipSuccess;
}
char const* hipGetErrorName(hipError_t) {
  return "hipErrorOfTheStub";
}
char const* hipGetErrorString(hipError_t) {
  return "an error of the stub";
}

hipError_t hipSetDevice(int) {
  return hipSuccess;
}
hipError_t hipMalloc(void** to, std::size_t size) {
  *to = std::calloc(1, size);
  return *to == nullptr ? hipErrorOutOfMemory : hipSuccess;
}
hipError_t hipFree(void* memory) {
  std::free(memory);
  return hipSuccess;
}
hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{64} << 20;
  return hipSuccess;
}
hipError_t hipMemcpyAsync(void* to, void const* from, std::size_t size, hipMemcpyKind,
                          hipStream_t) {
  std::memcpy(to, from, size);
  return hipSuccess;
}
hipError_t hipMemsetAsync(void* to, int value, std::size_t size, hipStream_t) {
  std::memset(to, value, size);
  return hipSuccess;
}
hipError_t hipHostRegister(void*, std::size_t, unsigned) {
  return hipSuccess;
}
hipError_t hipHostUnregister(void*) {
  return hipSuccess;
}
hipError_t hipHostGetDevicePointer(void** to, void* host, unsigned) {
  *to = host;
  return hipSuccess;
}
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
  *stream = nullptr;
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t) {
  return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t) {
  return hipSuccess;
}
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned) {
  return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t* event) {
  *event = nullptr;
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t) {
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t, hipStream_t) {
  return hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t) {
  return hipSuccess;
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t, hipEvent_t) {
  *milliseconds = 1;
  return hipSuccess;
}
hipError_t hipDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return hipSuccess;
}
hipError_t hipDeviceEnablePeerAccess(int, unsigned) {
  return hipSuccess;
}
hipError_t hipLaunchKernel(void const*, dim3, dim3, void**, std::size_t, hipStream_t) {
  return hipSuccess;
}

}  // extern "C"
