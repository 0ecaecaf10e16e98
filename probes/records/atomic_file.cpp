// SPDX-License-Identifier: Apache-2.0
#include "records/atomic_file.hpp"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <bandgate/errors.hpp>

#include "records/descriptor.hpp"
#include "records/result_store.hpp"
#include "records/run_id.hpp"

namespace bandgate {
namespace {

std::error_code last_error() {
  return {errno, std::generic_category()};
}

/// Hidden and not "*.json": a reader that lists a folder of records never meets a part of one.
std::filesystem::path temporary_beside(std::filesystem::path const& file) {
  std::string name = ".";
  for (auto const byte : new_random_bytes()) name += fmt::format("{:02x}", byte);
  return file.parent_path() / (name + ".tmp");
}

std::error_code write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t const done = ::write(fd, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return last_error();
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

std::error_code write_new(std::filesystem::path const& file, std::string const& text) {
  descriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!opened) return last_error();
  if (auto const error = write_all(opened.get(), text)) return error;
  if (::fsync(opened.get()) != 0) return last_error();
  if (!opened.close()) return last_error();  // where NFS reports a full quota
  return {};
}

}  // namespace

std::error_code sync_folder(std::filesystem::path const& folder) {
  auto const& name = folder.empty() ? std::filesystem::path(".") : folder;
  descriptor const opened(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that may be written but not listed, or a file system without this: nothing to be done.
  if (!opened || ::fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return last_error();
}

std::error_code try_write_atomically(std::filesystem::path const& file, std::string const& text) {
  auto const temporary = temporary_beside(file);
  auto error = write_new(temporary, text);
  if (!error && ::rename(temporary.c_str(), file.c_str()) != 0) error = last_error();
  if (error) {
    ::unlink(temporary.c_str());
    return error;
  }
  return sync_folder(file.parent_path());
}

void write_atomically(std::filesystem::path const& file, std::string const& text) {
  std::error_code error;
  // A link stays one: its target is replaced. A rename over anything but a file would remove it.
  auto const target =
      std::filesystem::is_symlink(file, error) ? std::filesystem::canonical(file, error) : file;
  auto const seen = std::filesystem::status(target, error);
  if (std::filesystem::exists(seen) && !std::filesystem::is_regular_file(seen))
    throw usage_error(file.string() + ": is not a regular file and is left alone; name another");
  if (auto const failed = try_write_atomically(target, text))
    throw usage_error(
        fmt::format("{}: cannot be written: {}; check the folder, its permissions "
                    "and the space left, or name another",
                    file.string(), failed.message()));
}

}  // namespace bandgate
