// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "loops_wide.hpp"
#include "loops_x86.hpp"

namespace bandgate {
namespace {

struct vector {
  using word = __m512i;
  static word broadcast(long long value) { return _mm512_set1_epi64(value); }
  static word load(char const* at) { return _mm512_load_si512(at); }
  static word add(word a, word b) { return _mm512_add_epi64(a, b); }
  static word add_scaled(word b, word c, double factor) {
    return _mm512_castpd_si512(_mm512_add_pd(
        _mm512_castsi512_pd(b), _mm512_mul_pd(_mm512_set1_pd(factor), _mm512_castsi512_pd(c))));
  }
  static void stream(char* at, word value) {
    _mm512_stream_si512(reinterpret_cast<word*>(at), value);
  }
  static std::uint64_t total(word const& sums) {
    alignas(64) std::uint64_t lanes[8];
    _mm512_store_si512(lanes, sums);
    std::uint64_t sum = 0;
    for (auto const lane : lanes) sum += lane;
    return sum;
  }
};
using wide = wide_loops<vector>;

}  // namespace

host_loops const avx512_loops{"avx512",      wide::sum64, sum32_one_a_step, sum32_four_a_step,
                              wide::store64, wide::copy,  wide::triad};

}  // namespace bandgate
