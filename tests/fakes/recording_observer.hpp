// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <bandgate/observer.hpp>

namespace bandgate::fakes {

/// Remembers the phases, and tells `then` of each where there is one.
class recording_observer : public observer {
 public:
  recording_observer() = default;
  explicit recording_observer(std::function<void(phase)> then) : then_(std::move(then)) {}
  void on_phase(phase p) override {
    phases.push_back(p);
    if (then_) then_(p);
  }

  std::vector<phase> phases;

 private:
  std::function<void(phase)> then_;
};

}  // namespace bandgate::fakes
