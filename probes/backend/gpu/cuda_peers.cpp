// SPDX-License-Identifier: Apache-2.0
/// What a context has to do with others: host memory, a second stream, other GPUs.
#include <fmt/format.h>

#include "backend/gpu/cuda_context.hpp"
#include "backend/gpu/node_memory.hpp"
#include "device/peer.hpp"

namespace bandgate {
namespace {

/// CUDA's words where access cannot be had; empty where it can.
std::string obstacle(int from, int to) {
  int possible = 0;
  auto const status = cudaDeviceCanAccessPeer(&possible, from, to);
  static_cast<void>(cudaGetLastError());
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return possible != 0 ? "" : "the driver offers none (no link, another root complex, or MIG)";
}

}  // namespace

buffer cuda_context::allocate_pinned(bytes size, char const* what) {
  make_current();
  auto host = map_on_node(size, identity().numa_node, what);
  void* const data = host.memory.as<void>();
  check(
      cudaHostRegister(data, host.mapped.count, cudaHostRegisterPortable | cudaHostRegisterMapped),
      on_device(fmt::format("cudaHostRegister of {} bytes ({})", host.mapped.count, what)));
  // Unregistered before it is unmapped, which the captured owner does.
  auto const owner = std::make_shared<buffer>(std::move(host.memory));
  buffer pinned(data, size, [owner, ordinal = ordinal_](void* p) {
    static_cast<void>(cudaSetDevice(ordinal));
    static_cast<void>(cudaHostUnregister(p));
  });
  void* seen = nullptr;
  check(cudaHostGetDevicePointer(&seen, data, 0), on_device("cudaHostGetDevicePointer"));
  if (seen != data)
    throw measurement_error(failure::device_failed,
                            on_device("kernels see host memory at another address"));
  notes_.push_back(host.note);
  return pinned;
}

buffer cuda_context::allocate_pageable(bytes size, char const* what) {
  auto host = map_on_node(size, identity().numa_node, what);
  notes_.push_back(host.note);
  return std::move(host.memory);
}

gpu_context& cuda_context::side() {
  if (!side_) side_ = std::make_unique<cuda_context>(all_, index_);
  return *side_;
}

gpu_context& cuda_context::peer(std::string const& selector) {
  std::vector<device_identity> everyone;
  for (auto const& device : *all_) everyone.push_back(device.identity);
  auto const at = find_peer(everyone, index_, selector);
  auto& other = peers_[at];
  if (!other) {
    auto made = std::make_unique<cuda_context>(all_, at);
    reach(*made);
    made->reach(*this);
    other = std::move(made);
  }
  return *other;
}

void cuda_context::reach(cuda_context const& other) {
  if (auto const why = obstacle(ordinal_, other.ordinal_); !why.empty())
    throw not_applicable(
        fmt::format("the GPU at {} has no access to the memory of the one at {}: {}",
                    identity().pci_address, other.identity().pci_address, why));
  make_current();
  auto const status = cudaDeviceEnablePeerAccess(other.ordinal_, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled)
    static_cast<void>(cudaGetLastError());
  else
    check(status, on_device("access to the memory of " + other.label_));
}

void cuda_context::wait_for(gpu_context& other) {
  auto& waited_for = dynamic_cast<cuda_context&>(other);
  waited_for.make_current();
  waited_for.arrived_.record(waited_for.stream_);
  make_current();
  check(cudaStreamWaitEvent(stream_.get(), waited_for.arrived_.get(), 0),
        on_device("waiting for " + waited_for.label_));
}

}  // namespace bandgate
