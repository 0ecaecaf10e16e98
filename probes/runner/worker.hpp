// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <bandgate/session.hpp>

#include "runner/request.hpp"

namespace bandgate {

/// The work of a worker process: answers one request with one hand-over document. `announce` is
/// called with each phase's name as it begins, and with "sampling 3/30" when three of its thirty
/// parts are over. Does not throw for anything that the request or a device can cause.
std::string answer(worker_request const& request,
                   std::function<void(std::string const&)> const& announce);

/// Position of the device that `selector` (UUID, PCI address or index) names; throws usage_error or
/// measurement_error(device_missing).
std::size_t select_device(device_list const& list, std::string const& selector);

}  // namespace bandgate
