// SPDX-License-Identifier: Apache-2.0
#include "host_cpu.hpp"

#include <fmt/format.h>

#include <utility>

#include "huge_pages.hpp"

namespace bandgate {

host_cpu::host_cpu(device_facts facts, std::uint64_t seed, host_loops const& loops)
    : facts_(facts),
      seed_(seed),
      loops_(loops),
      taken_(std::make_shared<std::uint64_t>(0)),
      pool_(spread(usable_cpus(), facts.processors)) {
  facts_.processors = pool_.size();
}

buffer host_cpu::allocate(bytes size, char const* what) {
  auto const room = facts_.memory_free.count - *taken_;
  if (size.count > room)
    throw measurement_error(
        failure::out_of_memory,
        fmt::format("the host buffer '{}' of {} bytes does not fit: {} bytes are free, {} of them "
                    "taken by this probe's other buffers; choose a smaller size or free memory",
                    what, size.count, facts_.memory_free.count, *taken_));
  auto pages = std::make_shared<buffer>(map_huge_pages(size, what));
  *taken_ += size.count;
  auto* const data = pages->as<void>();
  return {data, size, [pages, taken = taken_, size](void*) mutable {
            *taken -= size.count;
            pages.reset();
          }};
}

}  // namespace bandgate
