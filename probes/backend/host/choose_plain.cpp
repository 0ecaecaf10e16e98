// SPDX-License-Identifier: Apache-2.0
#include "loops.hpp"

namespace bandgate {

cpu_features this_cpu() {
  return {};
}

std::vector<host_loops const*> loops_for(cpu_features const&) {
  return {&plain_loops};
}

}  // namespace bandgate
