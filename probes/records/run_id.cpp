// SPDX-License-Identifier: Apache-2.0
#include "records/run_id.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <system_error>

#include <sys/random.h>

#include <fmt/format.h>

#include "records/result_store.hpp"

namespace bandgate {

random_bytes new_random_bytes() {
  // Not std::random_device: in newer libraries it needs arc4random, hence a glibc of its age.
  random_bytes random{};
  while (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
  return random;
}

std::string run_id_source::make(std::chrono::system_clock::time_point now,
                                random_bytes const& random) {
  using namespace std::chrono;
  auto const since_epoch = std::max(floor<nanoseconds>(now.time_since_epoch()), nanoseconds{0});
  auto const whole = duration_cast<milliseconds>(since_epoch);
  auto const rest = static_cast<std::uint64_t>((since_epoch - whole).count());
  auto const stamp = (static_cast<std::uint64_t>(whole.count()) << 12) + (rest << 12) / 1'000'000;
  last_ = std::max(stamp, last_ + 1);

  std::uint64_t low = 0;
  for (auto const byte : random) low = low << 8 | byte;
  low = (low & 0x3fff'ffff'ffff'ffffULL) | 0x8000'0000'0000'0000ULL;  // the variant, binary 10
  return fmt::format("{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}", last_ >> 28, last_ >> 12 & 0xffff,
                     last_ & 0xfff, low >> 48, low & 0xffff'ffff'ffffULL);
}

std::string new_run_id(std::chrono::system_clock::time_point now) {
  static std::mutex guard;
  static run_id_source source;
  std::scoped_lock const lock(guard);
  return source.make(now, new_random_bytes());
}

}  // namespace bandgate
