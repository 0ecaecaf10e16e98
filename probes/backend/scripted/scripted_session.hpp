// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/scripted/script.hpp"

namespace bandgate {

/// One scripted device, opened for attempt number `attempt`. Keeps `whole` alive.
std::unique_ptr<session> open_scripted(std::shared_ptr<script const> whole,
                                       scripted_device const& device, unsigned attempt);

}  // namespace bandgate
