// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/subject.hpp>
#include <memory>

namespace bandgate {

/// A clock on which a scripted device spends its time.
class scripted_clock : public clock {
 public:
  virtual void pass(nanoseconds time) = 0;
};

/// Real pace: the steady clock, and time passes by sleeping. Else a virtual one, starting at 0.
std::unique_ptr<scripted_clock> make_scripted_clock(bool real_pace);

}  // namespace bandgate
