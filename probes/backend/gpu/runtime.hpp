// SPDX-License-Identifier: Apache-2.0
/// The one table of names of the runtime: CUDA's, and for AMD's GPUs HIP's under the same names.
/// Only what the code that both share uses; what one vendor alone has is in nvidia.cpp or amd.cpp.
#pragma once

#if !defined(BANDGATE_HIP)

#include <cuda_runtime_api.h>

#else

#include <hip/hip_runtime_api.h>

// A macro there; headers of newer standard libraries, which may be read after it, have an attribute
// of that name.
#undef __noinline__

namespace bandgate {

using cudaError_t = hipError_t;
using cudaEvent_t = hipEvent_t;
using cudaStream_t = hipStream_t;

inline constexpr auto cudaSuccess = hipSuccess;
inline constexpr auto cudaErrorPeerAccessAlreadyEnabled = hipErrorPeerAccessAlreadyEnabled;
inline constexpr auto cudaMemcpyDefault = hipMemcpyDefault;
inline constexpr auto cudaMemcpyDeviceToDevice = hipMemcpyDeviceToDevice;
inline constexpr auto cudaMemcpyDeviceToHost = hipMemcpyDeviceToHost;
inline constexpr unsigned cudaHostRegisterMapped = hipHostRegisterMapped;
inline constexpr unsigned cudaHostRegisterPortable = hipHostRegisterPortable;
inline constexpr unsigned cudaStreamNonBlocking = hipStreamNonBlocking;

// References, since a function's own name may be a macro or overloaded there.
inline constexpr auto& cudaGetErrorName = hipGetErrorName;
inline constexpr auto& cudaGetErrorString = hipGetErrorString;
inline constexpr auto& cudaGetLastError = hipGetLastError;
inline constexpr auto& cudaDriverGetVersion = hipDriverGetVersion;
inline constexpr auto& cudaRuntimeGetVersion = hipRuntimeGetVersion;
inline constexpr auto& cudaGetDeviceCount = hipGetDeviceCount;
inline constexpr auto& cudaDeviceCanAccessPeer = hipDeviceCanAccessPeer;
inline constexpr auto& cudaDeviceEnablePeerAccess = hipDeviceEnablePeerAccess;
inline constexpr auto& cudaMemGetInfo = hipMemGetInfo;
inline constexpr auto& cudaMemcpyAsync = hipMemcpyAsync;
inline constexpr auto& cudaMemsetAsync = hipMemsetAsync;
inline constexpr auto& cudaStreamCreateWithFlags = hipStreamCreateWithFlags;
inline constexpr auto& cudaStreamDestroy = hipStreamDestroy;
inline constexpr auto& cudaStreamSynchronize = hipStreamSynchronize;
inline constexpr auto& cudaStreamWaitEvent = hipStreamWaitEvent;
inline constexpr auto& cudaEventDestroy = hipEventDestroy;
inline constexpr auto& cudaEventRecord = hipEventRecord;
inline constexpr auto& cudaEventSynchronize = hipEventSynchronize;
inline constexpr auto& cudaEventElapsedTime = hipEventElapsedTime;

// Not those that lambdas call: to gcc 16 these are constexpr, and the references are not functions.
inline cudaError_t cudaSetDevice(int device) {
  return hipSetDevice(device);
}
inline cudaError_t cudaFree(void* memory) {
  return hipFree(memory);
}
inline cudaError_t cudaHostUnregister(void* host) {
  return hipHostUnregister(host);
}
inline cudaError_t cudaMalloc(void** to, std::size_t size) {
  return hipMalloc(to, size);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return hipEventCreate(event);
}
inline cudaError_t cudaHostRegister(void* host, std::size_t size, unsigned flags) {
  return hipHostRegister(host, size, flags);
}
inline cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return hipHostGetDevicePointer(device, host, flags);
}
inline cudaError_t cudaLaunchKernel(void const* kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, cudaStream_t stream) {
  return hipLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

}  // namespace bandgate

#endif
