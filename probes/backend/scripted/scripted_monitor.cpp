// SPDX-License-Identifier: Apache-2.0
#include "backend/scripted/scripted_monitor.hpp"

#include <fmt/format.h>

namespace bandgate {

std::string scripted_label(device_identity const& d) {
  return fmt::format("{} at {} (scripted)", d.uuid, d.pci_address);
}

void scripted_monitor::on_phase(phase p) {
  sampled_ = sampled_ || p == phase::sampling;
  if (run_ == nullptr) return;
  run_->sampling = p == phase::sampling;
  run_->sampled = sampled_;
}

void scripted_monitor::part_begins(nanoseconds) {
  if (run_ != nullptr) run_->part = run_->parts_begun++;
}

health_snapshot scripted_monitor::part_ends() {
  if (run_ == nullptr || run_->attempt->part_health.empty()) return {};
  return of_part(run_->attempt->part_health, run_->part);
}

health scripted_monitor::report() {
  auto const has_own = run_ != nullptr && run_->attempt->health.has_value();
  auto seen = (has_own ? *run_->attempt->health : of_device_).at(time_.now() - since_);
  if (!sampled_) {
    seen.load.clear();
    seen.change.clear();
  }
  return seen;
}

}  // namespace bandgate
