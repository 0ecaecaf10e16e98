// SPDX-License-Identifier: Apache-2.0
#include "backend/scripted/scripted_backend.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "backend/scripted/script.hpp"
#include "backend/scripted/scripted_monitor.hpp"
#include "backend/scripted/scripted_session.hpp"

namespace bandgate {
namespace {

class scripted_backend final : public backend {
 public:
  scripted_backend(script whole, std::function<void(std::string const&)> announce)
      : script_(std::make_shared<script const>(std::move(whole))), announce_(std::move(announce)) {
    for (auto const& device : script_->devices)
      if (!device.missing) listed_.push_back(&device);
  }

  device_list devices() override {
    device_list list;
    list.problems = script_->problems;
    for (auto const& device : script_->devices) {
      if (!device.missing)
        list.devices.push_back(device.identity);
      else
        list.problems.push_back(missing(device.identity));
    }
    return list;
  }

  health inspect(std::size_t index) override {
    auto const& device = at(index);
    // For ever, as a hung library does: only a signal from outside ends it.
    while (device.hang_at_inspection) ::pause();
    if (!device.lost.empty())
      throw measurement_error(failure::device_lost,
                              scripted_label(device.identity) + " is lost: " + device.lost);
    auto seen = device.health.at({});
    seen.load.clear();
    seen.change.clear();
    return seen;
  }

  std::unique_ptr<session> open(std::size_t index, open_options const& options) override {
    std::vector<scripted_device const*> beside;
    for (auto const other : options.beside) beside.push_back(&at(other));
    return open_scripted(script_, at(index), beside, options, announce_);
  }

 private:
  scripted_device const& at(std::size_t index) const {
    if (index >= listed_.size())
      throw measurement_error(failure::device_missing,
                              fmt::format("{} lists {} devices; there is no index {}",
                                          script_->origin, listed_.size(), index));
    return *listed_[index];
  }

  static device_problem missing(device_identity const& d) {
    return {"device-missing",
            fmt::format("the GPU at {} ({}, {}) is in this machine and the driver {}does not list "
                        "it (scripted); look at the kernel log and reset or replace the card",
                        d.pci_address, d.name, d.uuid,
                        d.driver_version.empty() ? "" : d.driver_version + " ")};
  }

  std::shared_ptr<script const> script_;
  std::function<void(std::string const&)> announce_;
  std::vector<scripted_device const*> listed_;
};

}  // namespace

std::unique_ptr<backend> make_scripted_backend(std::filesystem::path const& file,
                                               std::function<void(std::string const&)> announce) {
  return std::make_unique<scripted_backend>(read_script(file, registered_probes()),
                                            std::move(announce));
}

}  // namespace bandgate
