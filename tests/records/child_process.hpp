// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bandgate::testing {

/// Runs `body` in a forked process, which ends with it.
inline pid_t start_child(std::function<void()> const& body) {
  pid_t const child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child > 0) return child;
  try {
    body();
    ::_exit(0);
  } catch (...) {
    ::_exit(99);
  }
}

/// The wait status of a child.
inline int finish(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// What `body` returns when it runs in a process of its own, where it may change limits and mounts.
inline std::string in_child(std::function<std::string()> const& body) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  auto const child = start_child([&] {
    auto const text = body();
    for (std::size_t done = 0; done < text.size();) {
      auto const n = ::write(ends[1], text.data() + done, text.size() - done);
      if (n < 0) throw std::runtime_error("write");
      done += static_cast<std::size_t>(n);
    }
  });
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  auto const status = finish(child);
  return status == 0 ? text : text + " [status " + std::to_string(status) + "]";
}

/// Mounts a small memory file system where only this process sees it. False where that is not
/// permitted (an ordinary user without user namespaces).
inline bool mount_private(std::string const& where, unsigned long flags, char const* options) {
  auto const user = std::to_string(::getuid());
  auto const group = std::to_string(::getgid());
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    // A user without a mapping may not own the files that it makes.
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user << ' ' << user << " 1";
    std::ofstream("/proc/self/gid_map") << group << ' ' << group << " 1";
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("none", where.c_str(), "tmpfs", flags, options) == 0;
}

}  // namespace bandgate::testing
