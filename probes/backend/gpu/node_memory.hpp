// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/backend.hpp>
#include <optional>
#include <string>

namespace bandgate {

/// Host memory and a sentence on where it lies.
struct node_memory {
  buffer memory;
  bytes mapped{};  ///< whole huge pages
  std::string note;
};

/// Anonymous memory, touched, on huge pages where the kernel grants them (which makes pinning it
/// many times quicker), and on that NUMA node where it is known and allowed: a node that cannot be
/// had is a note, not a failure. Throws measurement_error(out_of_memory) naming `what`.
node_memory map_on_node(bytes size, std::optional<int> node, char const* what);

}  // namespace bandgate
