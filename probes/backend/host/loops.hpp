// SPDX-License-Identifier: Apache-2.0
/// The variants of the inner loops. One file each, compiled with the flags of its instruction set;
/// such a file includes nothing whose inline functions could leak those instructions elsewhere.
#pragma once

#include <bandgate/backend.hpp>
#include <cstdint>
#include <vector>

namespace bandgate {

/// What the variants need of a CPU.
struct cpu_features {
  bool avx2{};
  bool avx512f{};
};

/// Of the CPU (and the operating system: it must save the wide registers) that runs this.
cpu_features this_cpu();

/// The variants that such a CPU runs, the narrowest ("plain") first, the fastest last.
std::vector<host_loops const*> loops_for(cpu_features const& cpu);

extern host_loops const plain_loops;

/// Scalar on purpose and in every variant: one 4-byte load a step, and four independent ones.
std::uint64_t sum32_one_a_step(void const* from, std::uint64_t size);
std::uint64_t sum32_four_a_step(void const* from, std::uint64_t size);

}  // namespace bandgate
