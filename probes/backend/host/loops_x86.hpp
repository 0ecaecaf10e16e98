// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loops.hpp"

namespace bandgate {

extern host_loops const avx2_loops;
extern host_loops const avx512_loops;

}  // namespace bandgate
