// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bandgate {

/// HIP's runtime, loaded at the first call of one of its functions.
struct hip_runtime {
  void* handle{};       ///< null: not loaded
  std::string name;     ///< "libamdhip64.so.6": of the release whose headers this build had
  std::string why_not;  ///< the loader's words; empty where it is loaded
};
hip_runtime const& the_hip_runtime();

}  // namespace bandgate
