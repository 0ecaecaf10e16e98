// SPDX-License-Identifier: Apache-2.0
#include <bandgate/probe.hpp>

#include <algorithm>

namespace bandgate {
namespace {

constexpr std::uint64_t granule = mib(1).count;

std::string text(std::uint64_t count) {
  return to_string(count, parameter_kind::size);
}

/// Whole elements on a GPU, whole cache lines of the streaming loops on the host.
void require_whole(std::uint64_t size, device_facts const& facts) {
  std::uint64_t const unit = facts.is_gpu ? 8 : 64;
  if (size % unit != 0)
    throw usage_error("size=" + text(size) + " is not a multiple of " + std::to_string(unit) +
                      " bytes; the next is " + text(size / unit * unit + unit));
}

}  // namespace

bytes streaming_buffer(parameter_value const& asked, device_facts const& facts, unsigned streams,
                       std::vector<std::string>& notes) {
  auto const cache = facts.last_level_cache.count;
  auto const room = facts.memory_free.count / 5 * 4 / std::max(streams, 1U) / granule * granule;
  auto const least = 4 * cache;
  std::uint64_t size = 0;
  if (auto const* exact = std::get_if<std::uint64_t>(&asked)) {
    size = *exact;
    require_whole(size, facts);
    if (size > room)
      throw measurement_error(failure::out_of_memory,
                              "size=" + text(*exact) + " does not fit: " + std::to_string(streams) +
                                  " such buffers may take 80 % of the free memory, " + text(room) +
                                  " each; choose a smaller size");
  } else {
    size = facts.is_gpu ? std::max(gib(4).count, 40 * cache) : std::max(gib(1).count, 4 * cache);
    size = (size + granule - 1) / granule * granule;
    if (size > room) {
      notes.push_back("buffer cut from " + text(size) + " to " + text(room) +
                      ": 80 % of the free memory, shared by " + std::to_string(streams));
      size = room;
      if (size < least || size == 0)
        throw measurement_error(failure::out_of_memory,
                                "the free memory holds " + std::to_string(streams) +
                                    " buffers of " + text(size) + ", and a probe of memory needs " +
                                    text(least) + " each: find who holds the memory");
    }
  }
  if (size < least || size == 0)
    throw usage_error("a buffer of " + text(size) +
                      " would measure the cache: a probe of memory needs at least 4 x the "
                      "last-level cache, " +
                      text(least) + "; choose a larger size or free memory on the device");
  return {size};
}

}  // namespace bandgate
