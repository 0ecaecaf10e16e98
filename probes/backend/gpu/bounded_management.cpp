// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/bounded_management.hpp"

#include <fmt/format.h>

#include <exception>
#include <future>
#include <thread>
#include <utility>

#include "device/health_fields.hpp"
#include "device/sysfs_health.hpp"

namespace bandgate {

bounded_management::bounded_management(std::shared_ptr<management const> inner,
                                       std::chrono::milliseconds limit)
    : inner_(std::move(inner)),
      limit_(limit),
      overdue_text_(fmt::format("the management library ({}) gave no answer within {} ms and was "
                                "asked no more",
                                inner_->name(), limit.count())) {}

template <class Answer>
Answer bounded_management::ask(std::function<Answer(management const&)> question,
                               Answer otherwise) const {
  if (overdue_) return otherwise;
  try {
    auto const promised = std::make_shared<std::promise<Answer>>();
    auto answer = promised->get_future();
    // Owns all that it uses, since nobody waits for it for ever.
    std::thread([inner = inner_, question = std::move(question), promised] {
      try {
        promised->set_value(question(*inner));
      } catch (...) {
        promised->set_exception(std::current_exception());
      }
    }).detach();
    if (answer.wait_for(limit_) == std::future_status::ready) return answer.get();
    overdue_ = true;
  } catch (std::exception const&) {  // no thread, no memory: not known
  }
  return otherwise;
}

void bounded_management::add_identity(device_identity& device) const {
  device = ask<device_identity>(
      [device](management const& library) {
        auto with_more = device;
        library.add_identity(with_more);
        return with_more;
      },
      device);
}

health_snapshot bounded_management::snapshot(device_identity const& device) const {
  auto seen =
      ask<health_snapshot>([device](management const& library) { return library.snapshot(device); },
                           nothing_known(overdue_text_));
  return with_sysfs(std::move(seen), device);
}

std::vector<device_process> bounded_management::processes(
    device_identity const& device, std::vector<std::uint64_t> const& own) const {
  return ask<std::vector<device_process>>(
      [device, own](management const& library) { return library.processes(device, own); }, {});
}

std::vector<device_identity> bounded_management::instances(device_identity const& card) const {
  return ask<std::vector<device_identity>>(
      [card](management const& library) { return library.instances(card); }, {});
}

std::optional<std::string> bounded_management::lost(device_identity const& device) const {
  return ask<std::optional<std::string>>(
      [device](management const& library) { return library.lost(device); }, std::nullopt);
}

}  // namespace bandgate
