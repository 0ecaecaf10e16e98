// SPDX-License-Identifier: Apache-2.0
/// HIP's functions, for want of a static runtime: each asks the library that is loaded when the
/// first of them is called. So the program starts, lists its probes and measures the CPU on
/// machines without it, and a supervisor never has it in its process. What the compiler lets a
/// program register before main (its kernels) is kept until then.
#include "backend/gpu/hip_runtime.hpp"

#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

namespace bandgate {
namespace {

// What a HIP compiler calls; in no header.
using register_binary = void** (*)(void const*);
using unregister_binary = void (*)(void**);
using register_function = void (*)(void**, void const*, char*, char const*, unsigned, void*, void*,
                                   void*, void*, int*);
using register_variable = void (*)(void**, void*, char*, char*, int, std::size_t, int, int);

struct kernel_of_program {
  void const* stub;
  char* name;
  char const* device_name;
  unsigned most_threads;
};
struct variable_of_program {
  void* shadow;
  char* name;
  char* device_name;
  int external;
  std::size_t size;
  int constant, global;
};
/// A compiled file's.
struct binary {
  void const* data{};
  void** registered{};  ///< by the runtime, once it is loaded
  std::vector<kernel_of_program> kernels{};
  std::vector<variable_of_program> variables{};
};

/// Filled before main, in any order of files. A deque: their addresses are handed out.
std::deque<binary>& binaries() {
  static std::deque<binary> all;
  return all;
}

template <class Function>
Function find(void* handle, char const* name) {
  return reinterpret_cast<Function>(::dlsym(handle, name));
}

void hand_over(void* handle) {
  auto const begin = find<register_binary>(handle, "__hipRegisterFatBinary");
  auto const add_kernel = find<register_function>(handle, "__hipRegisterFunction");
  auto const add_variable = find<register_variable>(handle, "__hipRegisterVar");
  if (begin == nullptr || add_kernel == nullptr || add_variable == nullptr) return;
  for (auto& one : binaries()) {
    one.registered = begin(one.data);
    for (auto const& k : one.kernels)
      add_kernel(one.registered, k.stub, k.name, k.device_name, k.most_threads, nullptr, nullptr,
                 nullptr, nullptr, nullptr);
    for (auto const& v : one.variables)
      add_variable(one.registered, v.shadow, v.name, v.device_name, v.external, v.size, v.constant,
                   v.global);
  }
}

hip_runtime load() {
  hip_runtime runtime;
  runtime.name = "libamdhip64.so." + std::to_string(HIP_VERSION_MAJOR);
  for (auto const& path : {runtime.name, "/opt/rocm/lib/" + runtime.name}) {
    runtime.handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (runtime.handle != nullptr) {
      runtime.why_not.clear();
      hand_over(runtime.handle);
      return runtime;
    }
    if (runtime.why_not.empty()) runtime.why_not = ::dlerror();
  }
  return runtime;
}

template <class Function>
Function in_library(char const* name) {
  auto const& runtime = the_hip_runtime();
  return runtime.handle == nullptr ? nullptr : find<Function>(runtime.handle, name);
}

}  // namespace

hip_runtime const& the_hip_runtime() {
  static hip_runtime const runtime = load();
  return runtime;
}

}  // namespace bandgate

using namespace bandgate;

// The header may say one name and mean another (hipGetDevicePropertiesR0600): its text is what is
// looked for.
#define BANDGATE_TEXT_OF(name) #name
#define BANDGATE_TEXT(name) BANDGATE_TEXT_OF(name)
/// Defines one of HIP's functions as a call of the library's.
#define BANDGATE_FORWARD(name, parameters, arguments)                                   \
  extern "C" hipError_t name parameters {                                               \
    static auto const call = in_library<hipError_t(*) parameters>(BANDGATE_TEXT(name)); \
    return call == nullptr ? hipErrorSharedObjectInitFailed : call arguments;           \
  }

BANDGATE_FORWARD(hipDriverGetVersion, (int* version), (version))
BANDGATE_FORWARD(hipRuntimeGetVersion, (int* version), (version))
BANDGATE_FORWARD(hipGetDeviceCount, (int* count), (count))
BANDGATE_FORWARD(hipGetDeviceProperties, (hipDeviceProp_t * to, int device), (to, device))
BANDGATE_FORWARD(hipDeviceGetUuid, (hipUUID * to, hipDevice_t device), (to, device))
BANDGATE_FORWARD(hipSetDevice, (int device), (device))
BANDGATE_FORWARD(hipGetLastError, (), ())
BANDGATE_FORWARD(hipMalloc, (void** to, std::size_t size), (to, size))
BANDGATE_FORWARD(hipFree, (void* memory), (memory))
BANDGATE_FORWARD(hipMemGetInfo, (std::size_t * free, std::size_t* total), (free, total))
BANDGATE_FORWARD(hipMemcpyAsync,
                 (void* to, void const* from, std::size_t size, hipMemcpyKind kind,
                  hipStream_t stream),
                 (to, from, size, kind, stream))
BANDGATE_FORWARD(hipMemsetAsync, (void* to, int value, std::size_t size, hipStream_t stream),
                 (to, value, size, stream))
BANDGATE_FORWARD(hipHostRegister, (void* host, std::size_t size, unsigned flags),
                 (host, size, flags))
BANDGATE_FORWARD(hipHostUnregister, (void* host), (host))
BANDGATE_FORWARD(hipHostGetDevicePointer, (void** to, void* host, unsigned flags),
                 (to, host, flags))
BANDGATE_FORWARD(hipStreamCreateWithFlags, (hipStream_t * stream, unsigned flags), (stream, flags))
BANDGATE_FORWARD(hipStreamDestroy, (hipStream_t stream), (stream))
BANDGATE_FORWARD(hipStreamSynchronize, (hipStream_t stream), (stream))
BANDGATE_FORWARD(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned flags),
                 (stream, event, flags))
BANDGATE_FORWARD(hipEventCreate, (hipEvent_t * event), (event))
BANDGATE_FORWARD(hipEventDestroy, (hipEvent_t event), (event))
BANDGATE_FORWARD(hipEventRecord, (hipEvent_t event, hipStream_t stream), (event, stream))
BANDGATE_FORWARD(hipEventSynchronize, (hipEvent_t event), (event))
BANDGATE_FORWARD(hipEventElapsedTime, (float* milliseconds, hipEvent_t begin, hipEvent_t end),
                 (milliseconds, begin, end))
BANDGATE_FORWARD(hipDeviceCanAccessPeer, (int* can, int device, int peer), (can, device, peer))
BANDGATE_FORWARD(hipDeviceEnablePeerAccess, (int peer, unsigned flags), (peer, flags))
BANDGATE_FORWARD(hipLaunchKernel,
                 (void const* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                  hipStream_t stream),
                 (kernel, grid, block, arguments, shared, stream))

extern "C" char const* hipGetErrorName(hipError_t error) {
  static auto const call = in_library<decltype(&hipGetErrorName)>("hipGetErrorName");
  return call == nullptr ? "hipErrorSharedObjectInitFailed" : call(error);
}
extern "C" char const* hipGetErrorString(hipError_t error) {
  static auto const call = in_library<decltype(&hipGetErrorString)>("hipGetErrorString");
  return call == nullptr ? "HIP's runtime library is not loaded" : call(error);
}

// What compiled files call: at their start and end, and in the stub of a kernel.

extern "C" void** __hipRegisterFatBinary(void const* data) {
  auto& one = binaries().emplace_back();
  one.data = data;
  return reinterpret_cast<void**>(&one);
}

extern "C" void __hipRegisterFunction(void** of, void const* stub, char* name,
                                      char const* device_name, unsigned most_threads, void*, void*,
                                      void*, void*, int*) {
  reinterpret_cast<binary*>(of)->kernels.push_back({stub, name, device_name, most_threads});
}

extern "C" void __hipRegisterVar(void** of, void* shadow, char* name, char* device_name,
                                 int external, std::size_t size, int constant, int global) {
  reinterpret_cast<binary*>(of)->variables.push_back(
      {shadow, name, device_name, external, size, constant, global});
}

extern "C" void __hipUnregisterFatBinary(void** of) {
  auto& one = *reinterpret_cast<binary*>(of);
  if (one.registered == nullptr) return;
  if (auto const end = in_library<unregister_binary>("__hipUnregisterFatBinary"))
    end(one.registered);
}

extern "C" hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                hipStream_t* stream) {
  using function = hipError_t (*)(dim3*, dim3*, std::size_t*, hipStream_t*);
  static auto const call = in_library<function>("__hipPopCallConfiguration");
  return call == nullptr ? hipErrorSharedObjectInitFailed : call(grid, block, shared, stream);
}

extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                 hipStream_t stream) {
  using function = hipError_t (*)(dim3, dim3, std::size_t, hipStream_t);
  static auto const call = in_library<function>("__hipPushCallConfiguration");
  return call == nullptr ? hipErrorSharedObjectInitFailed : call(grid, block, shared, stream);
}
