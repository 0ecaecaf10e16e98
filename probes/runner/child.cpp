// SPDX-License-Identifier: Apache-2.0
#include "runner/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <bandgate/errors.hpp>

extern char** environ;

namespace bandgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {
    if (number_ < 0)
      throw usage_error(std::string("cannot start a worker process: ") + std::strerror(errno));
  }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() { close(); }
  int get() const noexcept { return number_; }
  void close() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

/// Anonymous memory behaves as a file and is gone with its last holder.
descriptor anonymous_file(char const* name) {
  return descriptor(memfd_create(name, MFD_CLOEXEC));
}

std::string contents(int file, off_t most) {
  off_t const size = lseek(file, 0, SEEK_END);
  off_t const from = size > most ? size - most : 0;
  std::string text(static_cast<std::size_t>(size - from), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    auto const n = pread(file, text.data() + have, text.size() - have,
                         from + static_cast<off_t>(have));
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

/// Above every descriptor that dup2 will write to, so that none is overwritten before it is used.
descriptor lifted(descriptor low) { return descriptor(fcntl(low.get(), F_DUPFD_CLOEXEC, 10)); }

pid_t spawn(std::vector<std::string> const& command, int lines, int errors, int hand_over) {
  std::vector<char*> arguments;
  for (auto const& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, lines, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  posix_spawn_file_actions_adddup2(&actions, hand_over, hand_over_descriptor);
  pid_t child = -1;
  int const error =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw usage_error("cannot start " + command[0] + ": " + std::strerror(error));
  return child;
}

milliseconds left(steady_clock::time_point deadline) {
  auto const rest =
      std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  return rest.count() > 0 ? rest : milliseconds{0};
}

/// Passes on lines until the child closes its side. False when the deadline came first.
bool follow(int pipe, steady_clock::time_point deadline,
            std::function<void(std::string const&)> const& on_line) {
  std::string pending;
  std::array<char, 4096> chunk;
  for (;;) {
    auto const rest = left(deadline);
    if (rest.count() == 0) return false;
    pollfd waiting{pipe, POLLIN, 0};
    int const ready = poll(&waiting, 1, static_cast<int>(std::min<long>(rest.count(), 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    auto const n = read(pipe, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    pending.append(chunk.data(), static_cast<std::size_t>(n));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      if (on_line) on_line(pending.substr(0, end));
      pending.erase(0, end + 1);
    }
  }
}

std::optional<int> reap(pid_t child, steady_clock::time_point deadline) {
  for (;;) {
    int state = 0;
    pid_t const got = waitpid(child, &state, WNOHANG);
    if (got == child) return state;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (left(deadline).count() == 0) return std::nullopt;
    std::this_thread::sleep_for(milliseconds{2});
  }
}

}  // namespace

child_outcome run_child(std::vector<std::string> const& command, milliseconds limit,
                        std::function<void(std::string const&)> const& on_line) {
  auto const start = steady_clock::now();
  auto const deadline = start + limit;
  auto const hand_over = lifted(anonymous_file("bandgate-hand-over"));
  auto const errors = lifted(anonymous_file("bandgate-errors"));
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw usage_error(std::string("cannot start a worker process: ") + std::strerror(errno));
  descriptor const lines{ends[0]};
  auto writer = lifted(descriptor{ends[1]});

  pid_t const child = spawn(command, writer.get(), errors.get(), hand_over.get());
  writer.close();

  child_outcome outcome;
  std::optional<int> state;
  if (follow(lines.get(), deadline, on_line)) state = reap(child, deadline);
  if (!state) {
    outcome.how = child_outcome::ending::timed_out;
    kill(child, SIGKILL);
    // A process that sleeps uninterruptibly inside a driver ignores even SIGKILL: never wait for it
    // without a limit.
    outcome.abandoned = !reap(child, steady_clock::now() + reap_limit);
  } else if (WIFSIGNALED(*state)) {
    outcome.how = child_outcome::ending::signalled;
    outcome.code = WTERMSIG(*state);
  } else {
    outcome.code = WEXITSTATUS(*state);
  }
  outcome.hand_over = contents(hand_over.get(), off_t{64} << 20);
  outcome.errors = contents(errors.get(), 4000);
  outcome.duration_s = std::chrono::duration<double>(steady_clock::now() - start).count();
  return outcome;
}

void die_with_parent(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

}  // namespace bandgate
