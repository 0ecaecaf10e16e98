// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

// One version for each width of vectors, chosen when the program starts.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
std::uint64_t
sum_of_words(void const* from, std::uint64_t size) {
  auto const* const words = static_cast<std::uint64_t const*>(from);
  std::uint64_t sum = 0;
  for (int round = 0; round < REDUCTION_ROUNDS; ++round) {
    sum = 0;
    for (std::uint64_t i = 0; i < size / sizeof *words; ++i) sum += words[i];
    asm volatile("" : "+r"(sum) : : "memory");  // each round reads everything
  }
  return sum;
}
