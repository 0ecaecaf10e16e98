// SPDX-License-Identifier: Apache-2.0
#include "huge_pages.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace bandgate {
namespace {

constexpr std::size_t huge_page = 2UL << 20;
/// What alignment can cost at most: mmap itself aligns to pages of 4 KiB or more.
constexpr std::size_t slack = huge_page - 4096;

[[noreturn]] void refuse(bytes size, char const* what, int error) {
  throw measurement_error(
      failure::out_of_memory,
      fmt::format("the host buffer '{}' of {} bytes cannot be mapped: {}; choose a smaller size or "
                  "raise the limit (ulimit -v)",
                  what, size.count, std::generic_category().message(error)));
}

}  // namespace

buffer map_huge_pages(bytes size, char const* what) {
  if (size.count > SIZE_MAX - 2 * huge_page) refuse(size, what, ENOMEM);
  auto const length =
      (std::max<std::size_t>(size.count, 1) + huge_page - 1) / huge_page * huge_page;
  void* const mapped =
      ::mmap(nullptr, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) refuse(size, what, errno);
  auto* const begin = static_cast<char*>(mapped);
  auto const head = (huge_page - reinterpret_cast<std::uintptr_t>(mapped) % huge_page) % huge_page;
  auto* const aligned = begin + head;
  if (head != 0) ::munmap(begin, head);
  if (head < slack) ::munmap(aligned + length, slack - head);
  // A kernel without transparent huge pages refuses: slower, and still right.
  ::madvise(aligned, length, MADV_HUGEPAGE);
  return {aligned, size, [length](void* data) { ::munmap(data, length); }};
}

}  // namespace bandgate
