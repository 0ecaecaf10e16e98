// SPDX-License-Identifier: Apache-2.0
/// What must not be shared while something is measured, under the names that CTest's cases give it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bandgate/result.hpp>

#include "runner/task.hpp"

namespace bandgate {

/// "gpu0", "host": how tests and messages call a device.
std::string short_id(device_identity const& device, std::size_t index);

/// What `one` loads on device `self` of a machine with these devices: the device, the other GPU of
/// a transfer between two ("gpu0", "gpu1"), the link to the host ("hostlink"). All slices of a card
/// are the first of them, so that one is measured at a time.
std::vector<std::string> resources_of(task const& one, std::vector<device_identity> const& all,
                                      std::size_t self);

/// Hands resources out to threads. One takes all that it needs at once or waits holding none, so
/// there is no order of taking in which two could wait for each other.
class resource_pool {
 public:
  class lease {
   public:
    /// The first of several wishes that nobody stands in the way of.
    lease(resource_pool& from, std::vector<std::vector<std::string>> const& wishes);
    lease(resource_pool& from, std::vector<std::string> names)
        : lease(from, std::vector<std::vector<std::string>>{std::move(names)}) {}
    /// Which wish it is.
    std::size_t taken() const noexcept { return taken_; }
    ~lease();
    lease(lease const&) = delete;
    lease& operator=(lease const&) = delete;

   private:
    resource_pool& from_;
    std::vector<std::string> names_;
    std::size_t taken_{};
  };

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::set<std::string> taken_;
};

}  // namespace bandgate
