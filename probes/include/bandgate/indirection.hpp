// SPDX-License-Identifier: Apache-2.0
/// The indices of a gather or scatter, the data it moves, and what is right in its output:
/// functions of a seed and a place alone. So a table is made without storage or sorting, and an
/// output is verified without trusting the table that the kernel went by.
#pragma once

#include <cstdint>

#include <bandgate/random_data.hpp>

namespace bandgate {

/// A keyed permutation of [0, length): a Feistel network over the least power of two that holds it,
/// each half of a number's bits altered by a random function of the other half, repeated from where
/// a result is out of range until one is in it; on average less than twice. (Odd factors and shifts
/// instead leave patterns under one key in four.)
struct permuted_range {
  std::uint64_t length{1};
  unsigned low_bits{};  ///< half of them
  std::uint64_t low{};  ///< masks of the halves
  std::uint64_t high{};

  static constexpr unsigned rounds = 6;  ///< four leave patterns in blocks of 2^8 to 2^12

  BANDGATE_BOTH constexpr std::uint64_t at(std::uint64_t key, std::uint64_t x) const {
    do {
      auto right = x & low;
      auto left = x >> low_bits;
      for (unsigned r = 0; r < rounds; r += 2) {
        left ^= random_word(key, right * rounds + r) & high;
        right ^= random_word(key, left * rounds + r + 1) & low;
      }
      x = left << low_bits | right;
    } while (x >= length);
    return x;
  }
};

constexpr permuted_range permutation_of(std::uint64_t length) {
  unsigned bits = 0;
  while (bits < 63 && std::uint64_t{1} << bits < length) ++bits;
  auto const low_bits = (bits + 1) / 2;
  auto const mask = [](unsigned count) { return (std::uint64_t{1} << count) - 1; };
  return {length, low_bits, mask(low_bits), mask(bits - low_bits)};
}

/// Entry i of an index table.
struct index_rule {
  std::uint64_t elements{};
  std::uint64_t span{};  ///< at most `elements`
  std::uint64_t seed{};
  bool sliding{};
  permuted_range whole{}, last{};  ///< a block of `span` elements, and the one that may be shorter

  BANDGATE_BOTH constexpr std::uint64_t at(std::uint64_t i) const {
    return sliding ? slid(i) : permuted(i);
  }

 private:
  /// Each element once: a permutation inside blocks of `span`, of each block another.
  BANDGATE_BOTH constexpr std::uint64_t permuted(std::uint64_t i) const {
    auto const block = i / span;
    auto const begin = block * span;
    auto const& range = elements - begin < span ? last : whole;
    return begin + range.at(random_word(seed, block), i - begin);
  }
  /// i - span/2 + U, U uniform in [0, span) and independent for each i, wrapped: elements repeat.
  BANDGATE_BOTH constexpr std::uint64_t slid(std::uint64_t i) const {
    return (i + (elements - span / 2) + random_word(seed, i) % span) % elements;
  }
};

constexpr index_rule make_index_rule(std::uint64_t elements, std::uint64_t span, bool sliding,
                                     std::uint64_t seed) {
  auto const shorter = elements % span;
  return {elements,
          span,
          random_word(seed, 1),  // not the words that the data are made of
          sliding,
          permutation_of(span),
          permutation_of(shorter != 0 ? shorter : span)};
}

/// The data: element i holds its own number, under a key, in its lower bits and random bits above.
/// No two elements are equal, so no wrong index goes unseen, and a value found anywhere says where
/// it came from. Neighbours differ in few bits, for the reason that data_word() gives.
template <class Word>
struct numbered_data {
  static constexpr unsigned bits = sizeof(Word) == 8 ? 40 : 32;
  static constexpr std::uint64_t lower = (std::uint64_t{1} << bits) - 1;

  BANDGATE_BOTH static constexpr Word at(std::uint64_t seed, std::uint64_t i) {
    auto const number = (i ^ key(seed, i >> bits)) & lower;
    if constexpr (sizeof(Word) == 8)
      return number | (data_word(seed, i) & ~lower);
    else
      return static_cast<Word>(number);
  }
  /// The only element of that page of 2^bits which may have this value.
  BANDGATE_BOTH static constexpr std::uint64_t source(std::uint64_t seed, std::uint64_t page,
                                                      Word value) {
    return page << bits | ((value ^ key(seed, page)) & lower);
  }

 private:
  BANDGATE_BOTH static constexpr std::uint64_t key(std::uint64_t seed, std::uint64_t page) {
    return random_word(~seed, page + 1);
  }
};

/// Whether the value is that of an element for which `holds(i)`. That is asked last, as it computes
/// an index, which takes long.
template <class Word, class Holds>
BANDGATE_BOTH constexpr bool is_element(std::uint64_t elements, std::uint64_t seed, Word value,
                                        Holds const& holds) {
  using data = numbered_data<Word>;
  auto const pages = ((elements - 1) >> data::bits) + 1;
  for (std::uint64_t page = 0; page < pages; ++page) {
    auto const i = data::source(seed, page, value);
    if (i < elements && data::at(seed, i) == value && holds(i)) return true;
  }
  return false;
}

/// What is right in the output of out[i] = in[index[i]].
template <class Word>
struct gathered {
  using word = Word;
  static constexpr char const* name = "gather";
  index_rule index;
  std::uint64_t seed;

  struct comes_here {
    index_rule const& index;
    std::uint64_t place;
    BANDGATE_BOTH constexpr bool operator()(std::uint64_t i) const { return index.at(place) == i; }
  };
  BANDGATE_BOTH constexpr bool right(std::uint64_t place, Word value) const {
    return is_element(index.elements, seed, value, comes_here{index, place});
  }
  /// Whether a pass writes every place.
  BANDGATE_BOTH constexpr bool reaches_all() const { return true; }
};

/// What is right in the output of out[index[i]] = in[i]: any element whose index is the place.
/// Which one of several, nobody may say.
template <class Word>
struct scattered {
  using word = Word;
  static constexpr char const* name = "scatter";
  index_rule index;
  std::uint64_t seed;

  struct goes_here {
    index_rule const& index;
    std::uint64_t place;
    BANDGATE_BOTH constexpr bool operator()(std::uint64_t i) const { return index.at(i) == place; }
  };
  BANDGATE_BOTH constexpr bool right(std::uint64_t place, Word value) const {
    return is_element(index.elements, seed, value, goes_here{index, place});
  }
  BANDGATE_BOTH constexpr bool reaches_all() const { return !index.sliding; }
};

/// What the output holds at a place before a verified pass: never what is right there.
template <class Check>
BANDGATE_BOTH constexpr auto poison(Check const& check, std::uint64_t place) {
  typename Check::word value = ~numbered_data<typename Check::word>::at(check.seed, place);
  while (check.right(place, value)) ++value;
  return value;
}

/// Whether the output may hold this value at a place. A place that no element has for its index is
/// never right and must be as it was.
template <class Check>
BANDGATE_BOTH constexpr bool acceptable(Check const& check, std::uint64_t place,
                                        typename Check::word value) {
  return check.right(place, value) || (!check.reaches_all() && value == poison(check, place));
}

/// Whether a pass reached the place that is element i's.
template <class Check>
BANDGATE_BOTH constexpr bool reached(Check const& check, typename Check::word const* out,
                                     std::uint64_t i) {
  auto const place = check.index.at(i);
  return check.right(place, out[place]);
}

}  // namespace bandgate
