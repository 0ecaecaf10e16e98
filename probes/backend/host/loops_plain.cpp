// SPDX-License-Identifier: Apache-2.0
// Portable: whatever the compiler makes of it for the oldest CPU of the architecture.
#include <cstring>

#include "loops.hpp"

namespace bandgate {
namespace {

std::uint64_t sum64(void const* from, std::uint64_t size) {
  auto const* word = static_cast<std::uint64_t const*>(from);
  auto const* const end = word + size / sizeof *word;
  std::uint64_t sums[8]{};
  for (; word != end; word += 8)
    for (int i = 0; i < 8; ++i) sums[i] += word[i];
  std::uint64_t sum = 0;
  for (auto const s : sums) sum += s;
  return sum;
}

void store64(void* to, std::uint64_t size, std::uint64_t word) {
  auto* at = static_cast<std::uint64_t*>(to);
  auto* const end = at + size / sizeof *at;
  for (; at != end; ++at) *at = word;
}

void copy(void* to, void const* from, std::uint64_t size) {
  std::memcpy(to, from, size);
}

void triad(double* a, double const* b, double const* c, std::uint64_t size, double factor) {
  for (std::uint64_t i = 0; i < size / sizeof *a; ++i) a[i] = b[i] + factor * c[i];
}

}  // namespace

host_loops const plain_loops{"plain", sum64, sum32_one_a_step, sum32_four_a_step, store64,
                             copy,    triad};

}  // namespace bandgate
