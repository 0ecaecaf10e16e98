// SPDX-License-Identifier: Apache-2.0
/// The loops over cache lines, written once for every width of vector. `Vector` is a type of the
/// including file's unnamed namespace, so each instance stays with the flags of its file.
/// Figures: two cores of a Xeon (Sapphire Rapids), a buffer of 4 x its last-level cache.
#pragma once

#include <xmmintrin.h>

#include <cstdint>

namespace bandgate {

inline constexpr std::uint64_t line = 64;

template <class Vector>
struct wide_loops {
  using word = typename Vector::word;
  static constexpr int vectors = static_cast<int>(line / sizeof(word));  ///< in a line
  static constexpr int lines = 8;  ///< in flight before the first add waits

  /// Far enough that the line has come when the loop arrives: 9 % with 256-bit loads, 1 % with 512.
  static constexpr std::uint64_t ahead = 4096;

  static std::uint64_t sum64(void const* from, std::uint64_t size) {
    auto const* at = static_cast<char const*>(from);
    auto const* const end = at + size;
    word sums[lines];
    for (auto& sum : sums) sum = Vector::broadcast(0);
    for (; end - at >= static_cast<std::int64_t>(lines * line); at += lines * line)
      for (int i = 0; i < lines; ++i) {
        _mm_prefetch(at + ahead + static_cast<std::uint64_t>(i) * line, _MM_HINT_T0);
        sums[i] = add_line(sums[i], at + static_cast<std::uint64_t>(i) * line);
      }
    for (; at != end; at += line) sums[0] = add_line(sums[0], at);
    std::uint64_t total = 0;
    for (auto const& sum : sums) total += Vector::total(sum);
    return total;
  }

  static void store64(void* to, std::uint64_t size, std::uint64_t value) {
    auto const vector = Vector::broadcast(static_cast<long long>(value));
    auto* const begin = static_cast<char*>(to);
    for (std::uint64_t at = 0; at < size; at += sizeof(word)) Vector::stream(begin + at, vector);
    _mm_sfence();
  }

  /// Walks four pages side by side: four streams keep more of the memory's banks busy than one
  /// (48 against 42 GB/s).
  static void copy(void* to, void const* from, std::uint64_t size) {
    constexpr std::uint64_t page = 4096;
    auto const* source = static_cast<char const*>(from);
    auto* target = static_cast<char*>(to);
    for (; size >= 4 * page; size -= 4 * page, source += 4 * page, target += 4 * page)
      for (std::uint64_t at = 0; at < page; at += line)
        copy_lines<4, page>(target + at, source + at);
    for (std::uint64_t at = 0; at < size; at += line) copy_lines<1, 0>(target + at, source + at);
    _mm_sfence();
  }

  /// a = b + factor * c, as doubles.
  static void triad(double* a, double const* b, double const* c, std::uint64_t size,
                    double factor) {
    auto* to = reinterpret_cast<char*>(a);
    auto const* one = reinterpret_cast<char const*>(b);
    auto const* other = reinterpret_cast<char const*>(c);
    for (std::uint64_t at = 0; at < size; at += line)
      for (std::uint64_t i = at; i < at + line; i += sizeof(word)) {
        if (i == at) {
          _mm_prefetch(one + i + ahead, _MM_HINT_T0);
          _mm_prefetch(other + i + ahead, _MM_HINT_T0);
        }
        Vector::stream(to + i,
                       Vector::add_scaled(Vector::load(one + i), Vector::load(other + i), factor));
      }
    _mm_sfence();
  }

 private:
  static word add_line(word sum, char const* at) {
    for (int i = 0; i < vectors; ++i)
      sum = Vector::add(sum, Vector::load(at + static_cast<std::uint64_t>(i) * sizeof(word)));
    return sum;
  }

  /// Loads them all before the first store.
  template <int Lines, std::uint64_t Apart>
  static void copy_lines(char* to, char const* from) {
    word held[Lines * vectors];
    for (int i = 0; i < Lines * vectors; ++i) held[i] = Vector::load(from + offset<Apart>(i));
    for (int i = 0; i < Lines * vectors; ++i) Vector::stream(to + offset<Apart>(i), held[i]);
  }

  template <std::uint64_t Apart>
  static constexpr std::uint64_t offset(int i) {
    return static_cast<std::uint64_t>(i / vectors) * Apart +
           static_cast<std::uint64_t>(i % vectors) * sizeof(word);
  }
};

}  // namespace bandgate
