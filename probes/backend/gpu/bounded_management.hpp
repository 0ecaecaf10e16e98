// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/management.hpp"

namespace bandgate {

/// A management library that is given up once it takes too long: no measurement waits for one that
/// hangs. Each question is asked on a thread of its own, which is left behind where it hangs. A
/// snapshot has what sysfs knows where the library knows nothing.
class bounded_management final : public management {
 public:
  /// Above what a sound library takes for a whole snapshot, also where it must wake the card.
  static constexpr std::chrono::milliseconds answer_limit{5000};

  explicit bounded_management(std::shared_ptr<management const> inner,
                              std::chrono::milliseconds limit = answer_limit);

  std::string name() const override { return inner_->name(); }
  bool available() const noexcept override { return !overdue_ && inner_->available(); }
  std::string const& why_not() const noexcept override {
    return overdue_ ? overdue_text_ : inner_->why_not();
  }
  void add_identity(device_identity& device) const override;
  health_snapshot snapshot(device_identity const& device) const override;
  std::vector<device_process> processes(device_identity const& device,
                                        std::vector<std::uint64_t> const& own) const override;
  std::vector<device_identity> instances(device_identity const& card) const override;
  std::optional<std::string> lost(device_identity const& device) const override;

 private:
  template <class Answer>
  Answer ask(std::function<Answer(management const&)> question, Answer otherwise) const;

  std::shared_ptr<management const> inner_;
  std::chrono::milliseconds limit_;
  std::string overdue_text_;
  mutable std::atomic<bool> overdue_{};
};

}  // namespace bandgate
