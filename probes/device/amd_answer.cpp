// SPDX-License-Identifier: Apache-2.0
#include "device/amd_answer.hpp"

namespace bandgate {

std::string amd_explain(char const* function, int code, char const* meaning) {
  if (code == amd_code::missing)
    return std::string(function) + ": this library has no such function";
  return std::string(function) + ": " + meaning + " (" + std::to_string(code) + ")";
}

}  // namespace bandgate
