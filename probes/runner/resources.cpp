// SPDX-License-Identifier: Apache-2.0
#include "runner/resources.hpp"

#include <algorithm>

namespace bandgate {

std::string short_id(device_identity const& device, std::size_t index) {
  return device.backend == "host" ? "host" : "gpu" + std::to_string(index);
}

namespace {

/// Slices of one card share its memory bus, so they are one resource: that of the first of them.
std::string card_of(std::vector<device_identity> const& all, std::size_t self) {
  auto const& parent = all.at(self).mig_parent;
  auto const first = std::find_if(all.begin(), all.end(), [&](device_identity const& other) {
    return !parent.empty() && (other.mig_parent == parent || other.uuid == parent);
  });
  if (first == all.end()) return short_id(all[self], self);
  return short_id(*first, static_cast<std::size_t>(first - all.begin()));
}

}  // namespace

std::vector<std::string> resources_of(task const& one, std::vector<device_identity> const& all,
                                      std::size_t self) {
  if (all.at(self).backend == "host") return {"hostlink"};
  std::vector<std::string> names{card_of(all, self)};
  if (auto const other = peer_of(one, all, self)) names.push_back(card_of(all, *other));
  if (one.what->load == load::link) names.emplace_back("hostlink");
  return names;
}

resource_pool::lease::lease(resource_pool& from,
                            std::vector<std::vector<std::string>> const& wishes)
    : from_(from) {
  auto const is_free = [&](std::vector<std::string> const& names) {
    return std::none_of(names.begin(), names.end(),
                        [&](std::string const& name) { return from_.taken_.contains(name); });
  };
  std::unique_lock lock(from_.mutex_);
  from_.given_back_.wait(lock, [&] {
    auto const found = std::find_if(wishes.begin(), wishes.end(), is_free);
    taken_ = static_cast<std::size_t>(found - wishes.begin());
    return found != wishes.end();
  });
  names_ = wishes[taken_];
  from_.taken_.insert(names_.begin(), names_.end());
}

resource_pool::lease::~lease() {
  {
    std::lock_guard const lock(from_.mutex_);
    for (auto const& name : names_) from_.taken_.erase(name);
  }
  from_.given_back_.notify_all();
}

}  // namespace bandgate
