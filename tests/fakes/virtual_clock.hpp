// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/subject.hpp>

namespace bandgate::fakes {

/// A clock that moves only when it is told to.
class virtual_clock : public clock {
 public:
  nanoseconds now() override { return now_; }
  void advance(nanoseconds by) { now_ += by; }

 private:
  nanoseconds now_{};
};

}  // namespace bandgate::fakes
