// SPDX-License-Identifier: Apache-2.0
/// The library whose speed is to be gated: sums of 64-bit words, modulo 2^64.
#pragma once

#include <cstdint>

/// `size` is in bytes, a multiple of 8.
std::uint64_t sum_of_words(void const* from, std::uint64_t size);
