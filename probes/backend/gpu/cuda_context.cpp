// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_context.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "backend/gpu/vendor.hpp"

namespace bandgate {
namespace {

int ordinal_of(cuda_device const& device, std::string const& label) {
  if (device.ordinal) return *device.ordinal;
  throw measurement_error(failure::device_missing,
                          label +
                              ": CUDA does not show this slice to this process; it must be the "
                              "first in CUDA_VISIBLE_DEVICES");
}

/// Another one at every run: nothing that an earlier run left in memory can pass for this one's.
std::uint64_t new_seed() {
  std::uint64_t seed = 0;
  while (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    if (errno != EINTR)
      throw measurement_error(failure::device_failed,
                              fmt::format("the system gives no random seed (getrandom): {}",
                                          std::generic_category().message(errno)));
  return seed;
}

device_facts facts_of(device_identity const& identity, std::string const& label) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "free memory of " + label);
  device_facts facts;
  facts.memory_total = {total};
  facts.memory_free = {free};
  facts.last_level_cache = {identity.last_level_cache_bytes.value_or(0)};
  facts.processors = identity.processors.value_or(1);
  facts.compute_capability = vendor::compute_capability(identity);
  facts.is_gpu = true;
  return facts;
}

}  // namespace

std::string label_of(device_identity const& identity) {
  return fmt::format("{}, {}, PCI {}", identity.name, identity.uuid, identity.pci_address);
}

cuda_context::opened::opened(int ordinal, std::string const& label) {
  check(cudaSetDevice(ordinal), "opening " + label);
  check(cudaFree(nullptr), "opening " + label);  // makes the context
}

cuda_context::cuda_context(machine all, std::size_t index)
    : all_(std::move(all)),
      index_(index),
      label_(label_of(identity())),
      ordinal_(ordinal_of(all_->at(index), label_)),
      opened_(ordinal_, label_),
      facts_(facts_of(identity(), label_)),
      seed_(new_seed()) {}

void cuda_context::make_current() {
  auto const status = cudaSetDevice(ordinal_);
  if (status != cudaSuccess) check(status, "choosing " + label_);
}

buffer cuda_context::allocate(bytes size, char const* what) {
  make_current();
  void* data = nullptr;
  check(cudaMalloc(&data, size.count),
        on_device(fmt::format("cudaMalloc of {} bytes ({})", size.count, what)));
  // Cannot report: what fails here was reported by the call that broke the device.
  return {data, size, [ordinal = ordinal_](void* p) {
            static_cast<void>(cudaSetDevice(ordinal));
            static_cast<void>(cudaFree(p));
          }};
}

void cuda_context::launch(void const* kernel, launch_grid grid, void** arguments,
                          char const* what) {
  if (grid.blocks == 0 || grid.blocks > std::numeric_limits<int>::max())
    throw measurement_error(
        failure::device_failed,
        on_device(fmt::format("launch of {} with {} blocks, of 1 to 2^31 - 1", what, grid.blocks)));
  if (grid.blocks > vendor::most_threads() / grid.threads)
    throw measurement_error(
        failure::device_failed,
        on_device(fmt::format("launch of {} with {} blocks of {} threads, of which there may be {} "
                              "in all; choose a smaller size",
                              what, grid.blocks, grid.threads, vendor::most_threads())));
  make_current();
  auto const status = cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(grid.blocks)),
                                       dim3(grid.threads), arguments, 0, stream_.get());
  if (status != cudaSuccess) check(status, on_device(std::string("launch of ") + what));
}

void cuda_context::fill_bytes(void* device, unsigned char value, bytes size) {
  make_current();
  check(cudaMemsetAsync(device, value, size.count, stream_.get()), on_device("cudaMemset"));
}

void cuda_context::copy_to_host(void* host, void const* device, bytes size) {
  make_current();
  check(cudaMemcpyAsync(host, device, size.count, cudaMemcpyDeviceToHost, stream_.get()),
        on_device("cudaMemcpy to the host"));
  synchronize("cudaMemcpy to the host");
}

void cuda_context::copy_on_device(void* to, void const* from, bytes size) {
  make_current();
  check(cudaMemcpyAsync(to, from, size.count, cudaMemcpyDeviceToDevice, stream_.get()),
        on_device("cudaMemcpy on the device"));
}

void cuda_context::synchronize(char const* what) {
  make_current();
  auto const status = cudaStreamSynchronize(stream_.get());
  if (status != cudaSuccess) check(status, on_device(what));
}

void cuda_context::copy(void* to, void const* from, bytes size) {
  make_current();
  // The addresses say whose memory it is.
  auto const status = cudaMemcpyAsync(to, from, size.count, cudaMemcpyDefault, stream_.get());
  if (status != cudaSuccess)
    check(status, on_device(fmt::format("cudaMemcpy of {} bytes", size.count)));
}

void cuda_context::start_timer() {
  make_current();
  timer_begin_.record(stream_);
}

void cuda_context::stop_timer() {
  make_current();
  timer_end_.record(stream_);
}

double cuda_context::timer_seconds() {
  make_current();
  return std::chrono::duration<double>(timer_end_ - timer_begin_).count();
}

}  // namespace bandgate
