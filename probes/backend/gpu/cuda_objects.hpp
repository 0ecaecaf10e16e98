// SPDX-License-Identifier: Apache-2.0
/// Owners of CUDA's streams and events. Move-only. A destructor cannot report: what fails there
/// was reported by the call that broke the device.
#pragma once

#include <chrono>
#include <utility>

#include "backend/gpu/cuda_check.hpp"

namespace bandgate {

class cuda_stream {
 public:
  /// Does not wait for the legacy default stream.
  cuda_stream() { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "stream"); }
  cuda_stream(cuda_stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  cuda_stream& operator=(cuda_stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~cuda_stream() {
    if (handle_ != nullptr) static_cast<void>(cudaStreamDestroy(handle_));
  }
  cudaStream_t get() const noexcept { return handle_; }

 private:
  cudaStream_t handle_{};
};

class cuda_event {
 public:
  cuda_event() { check(cudaEventCreate(&handle_), "event"); }
  cuda_event(cuda_event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  cuda_event& operator=(cuda_event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~cuda_event() {
    if (handle_ != nullptr) static_cast<void>(cudaEventDestroy(handle_));
  }
  void record(cuda_stream const& on) { check(cudaEventRecord(handle_, on.get()), "event record"); }
  cudaEvent_t get() const noexcept { return handle_; }
  /// `what`: the work that was enqueued before it, for the message of a failure that shows here.
  void wait(std::string const& what) { check(cudaEventSynchronize(handle_), what); }

  /// The time between two events that have both happened.
  friend std::chrono::nanoseconds operator-(cuda_event const& end, cuda_event const& begin) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.handle_, end.handle_), "event elapsed time");
    return std::chrono::round<std::chrono::nanoseconds>(
        std::chrono::duration<double, std::milli>(milliseconds));
  }

 private:
  cudaEvent_t handle_{};
};

}  // namespace bandgate
