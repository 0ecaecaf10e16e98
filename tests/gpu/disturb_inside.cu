// SPDX-License-Identifier: Apache-2.0
// A library to preload into bandgate: in the process that measures it streams on DISTURB_PROCESSORS
// processors of the same device, beside the measured kernel and in its context, as soon as that
// exists. Nothing there tells it from a card that is a little slower.
#include <cuda.h>
#include <dlfcn.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "stream_kernel.cuh"

namespace {

/// The ordinal of the device that this process has its context on, once it has.
int device_in_use() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto const state_of = driver == nullptr ? nullptr
                                          : reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(
                                                dlsym(driver, "cuDevicePrimaryCtxGetState"));
  disturb::check(state_of == nullptr ? cudaErrorInsufficientDriver : cudaSuccess, "driver");
  for (;;) {
    for (int ordinal = 0; ordinal < 16; ++ordinal) {
      unsigned flags = 0;
      int active = 0;
      if (state_of(ordinal, &flags, &active) == CUDA_SUCCESS && active != 0) return ordinal;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void work() {
  char const* const processors = std::getenv("DISTURB_PROCESSORS");
  disturb::check(cudaSetDevice(device_in_use()), "device");
  disturb::stream_for_ever(processors == nullptr ? 4 : std::atoi(processors), [] {});
}

/// The supervisor never touches a driver, and must not by this library.
__attribute__((constructor)) void start() {
  std::ifstream file("/proc/self/cmdline");
  std::string const command{std::istreambuf_iterator<char>(file), {}};
  if (command.find("\"what\":\"measure\"") != std::string::npos) std::thread(work).detach();
}

}  // namespace
