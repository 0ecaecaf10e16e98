// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/scripted/script.hpp"

namespace bandgate {

/// One scripted device, once nobody computes on it nor on those `beside` it. Keeps `whole` alive.
std::unique_ptr<session> open_scripted(std::shared_ptr<script const> whole,
                                       scripted_device const& device,
                                       std::vector<scripted_device const*> const& beside,
                                       open_options const& how,
                                       std::function<void(std::string const&)> const& announce);

}  // namespace bandgate
