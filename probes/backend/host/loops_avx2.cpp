// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "loops_wide.hpp"
#include "loops_x86.hpp"

namespace bandgate {
namespace {

struct vector {
  using word = __m256i;
  static word broadcast(long long value) { return _mm256_set1_epi64x(value); }
  static word load(char const* at) { return _mm256_load_si256(reinterpret_cast<word const*>(at)); }
  static word add(word a, word b) { return _mm256_add_epi64(a, b); }
  static word add_scaled(word b, word c, double factor) {
    return _mm256_castpd_si256(_mm256_add_pd(
        _mm256_castsi256_pd(b), _mm256_mul_pd(_mm256_set1_pd(factor), _mm256_castsi256_pd(c))));
  }
  static void stream(char* at, word value) {
    _mm256_stream_si256(reinterpret_cast<word*>(at), value);
  }
  static std::uint64_t total(word const& sums) {
    alignas(32) std::uint64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<word*>(lanes), sums);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
  }
};
using wide = wide_loops<vector>;

}  // namespace

host_loops const avx2_loops{"avx2",        wide::sum64, sum32_one_a_step, sum32_four_a_step,
                            wide::store64, wide::copy,  wide::triad};

}  // namespace bandgate
