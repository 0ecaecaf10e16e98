// SPDX-License-Identifier: Apache-2.0
/// The parts of a series, as the code that sizes, measures and judges them and people's texts mean
/// them. People count them from one.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

#include <bandgate/probe.hpp>
#include <bandgate/result.hpp>

namespace bandgate {

/// Bytes of slice number `slice` (from 0): all are `slice_bytes` long but perhaps the last, which
/// has what is left of the work's buffers.
inline std::uint64_t bytes_of_slice(work const& planned, std::uint64_t slice) {
  std::uint64_t all = 0;
  for (auto const& [name, size] : planned.buffers) all += size.count;
  auto const begin = slice * planned.slice_bytes;
  return begin < all ? std::min(planned.slice_bytes, all - begin) : 0;
}

/// "0x940000000"
inline std::string hexadecimal(std::uint64_t number) {
  char digits[16];
  auto const end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  return "0x" + std::string(digits, end);
}

/// "slice 38 of 139, 0x940000000 to 0x97fffffff": bytes from the start of the memory.
inline std::string slice_text(std::uint64_t slice, std::uint64_t slices, std::uint64_t begin,
                              std::uint64_t end) {
  return "slice " + std::to_string(slice + 1) + " of " + std::to_string(slices) + ", " +
         hexadecimal(begin) + " to " + hexadecimal(end - 1);
}

/// Index of the slowest part. Precondition: there is one.
inline std::size_t slowest_part(measurement const& m) {
  auto const& all = m.series->points;
  auto const less = [](auto const& a, auto const& b) { return a.value < b.value; };
  auto const found = m.is_time ? std::max_element(all.begin(), all.end(), less)
                               : std::min_element(all.begin(), all.end(), less);
  return static_cast<std::size_t>(found - all.begin());
}

/// "window 17 of 30, at 16 s" or "slice 38 of 139, 0x940000000 to 0x97fffffff".
inline std::string part_text(series const& of, std::size_t part) {
  auto const at = of.points[part].at;
  auto const all = of.points.size();
  if (of.axis != "address")
    return "window " + std::to_string(part + 1) + " of " + std::to_string(all) + ", at " +
           std::to_string(static_cast<std::uint64_t>(at + 0.5)) + " s";
  auto const begin = static_cast<std::uint64_t>(at);
  // A series does not say where the last slice, which may be shorter, ends.
  if (part + 1 == all)
    return "slice " + std::to_string(part + 1) + " of " + std::to_string(all) + ", from " +
           hexadecimal(begin) + " on";
  return slice_text(part, all, begin, begin + static_cast<std::uint64_t>(of.step));
}

}  // namespace bandgate
