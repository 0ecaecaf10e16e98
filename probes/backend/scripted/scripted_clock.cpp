// SPDX-License-Identifier: Apache-2.0
#include "backend/scripted/scripted_clock.hpp"

#include <chrono>
#include <thread>

namespace bandgate {
namespace {

class virtual_clock final : public scripted_clock {
 public:
  nanoseconds now() override { return now_; }
  void pass(nanoseconds time) override {
    // Stops at the end of what 64 bits can count, rather than running backwards.
    now_ = time > nanoseconds::max() - now_ ? nanoseconds::max() : now_ + time;
  }

 private:
  nanoseconds now_{0};
};

class real_clock final : public scripted_clock {
 public:
  nanoseconds now() override { return std::chrono::steady_clock::now().time_since_epoch(); }
  void pass(nanoseconds time) override { std::this_thread::sleep_for(time); }
};

}  // namespace

std::unique_ptr<scripted_clock> make_scripted_clock(bool real_pace) {
  if (real_pace) return std::make_unique<real_clock>();
  return std::make_unique<virtual_clock>();
}

}  // namespace bandgate
