// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

namespace bandgate {

/// Position of the GPU that `selector` names for transfers with `all[self]`: a UUID, a PCI address,
/// an index, or "auto", the next one of `all`, which is in PCI order. Throws not_applicable where
/// there is no other GPU, usage_error for a selector that names none or the device itself.
std::size_t find_peer(std::vector<device_identity> const& all, std::size_t self,
                      std::string const& selector);

}  // namespace bandgate
