// SPDX-License-Identifier: Apache-2.0
// Compiled without vectorizing and unrolling: these loops are what they look like.
#include "loops.hpp"

namespace bandgate {

std::uint64_t sum32_one_a_step(void const* from, std::uint64_t size) {
  auto const* word = static_cast<std::uint32_t const*>(from);
  auto const* const end = word + size / sizeof *word;
  std::uint64_t sum = 0;
  for (; word != end; ++word) sum += *word;
  return sum;
}

std::uint64_t sum32_four_a_step(void const* from, std::uint64_t size) {
  auto const* word = static_cast<std::uint32_t const*>(from);
  auto const* const end = word + size / sizeof *word;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;
  for (; word != end; word += 4) {
    a += word[0];
    b += word[1];
    c += word[2];
    d += word[3];
  }
  return a + b + c + d;
}

}  // namespace bandgate
