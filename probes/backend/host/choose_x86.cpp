// SPDX-License-Identifier: Apache-2.0
#include "loops_x86.hpp"

namespace bandgate {

cpu_features this_cpu() {
  __builtin_cpu_init();
  return {__builtin_cpu_supports("avx2") != 0, __builtin_cpu_supports("avx512f") != 0};
}

std::vector<host_loops const*> loops_for(cpu_features const& cpu) {
  std::vector<host_loops const*> runnable{&plain_loops};
  if (cpu.avx2) runnable.push_back(&avx2_loops);
  if (cpu.avx512f) runnable.push_back(&avx512_loops);
  return runnable;
}

}  // namespace bandgate
