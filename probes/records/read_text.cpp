// SPDX-License-Identifier: Apache-2.0
#include "records/schema.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <bandgate/errors.hpp>

#include "records/descriptor.hpp"

namespace bandgate {
namespace {

[[noreturn]] void refuse(std::filesystem::path const& file, std::string const& why) {
  throw usage_error(fmt::format("{}: {}", file.string(), why));
}

[[noreturn]] void refuse_with_errno(std::filesystem::path const& file) {
  auto const reason = std::generic_category().message(errno);
  refuse(file, fmt::format("cannot be read: {}; check the path and its permissions", reason));
}

/// What it is instead of a regular file.
char const* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

void check_kind(std::filesystem::path const& file, struct stat const& seen, std::uintmax_t most) {
  if (!S_ISREG(seen.st_mode))
    refuse(file, fmt::format("is {}; give the path of a regular file", kind_of(seen.st_mode)));
  if (static_cast<std::uintmax_t>(seen.st_size) > most)
    refuse(file, fmt::format("has {} bytes, more than the {} that such a file may have",
                             seen.st_size, most));
}

}  // namespace

std::string read_text(std::filesystem::path const& file, std::uintmax_t most) {
  struct stat seen {};
  // Looked at before it is opened: opening a device can act on it. O_NONBLOCK, because by then it
  // may have become a FIFO, and opening one waits for a writer.
  if (::stat(file.c_str(), &seen) != 0) refuse_with_errno(file);
  check_kind(file, seen, most);
  descriptor const opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened || ::fstat(opened.get(), &seen) != 0) refuse_with_errno(file);
  check_kind(file, seen, most);

  std::string text;
  std::string chunk(64 * 1024, '\0');
  while (true) {
    ssize_t const got = ::read(opened.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_with_errno(file);
    if (got == 0) return text;
    text.append(chunk, 0, static_cast<std::size_t>(got));
    if (text.size() > most)  // it grows, or is one of /proc, which say size 0
      refuse(file, fmt::format("has more than the {} bytes that such a file may have", most));
  }
}

}  // namespace bandgate
