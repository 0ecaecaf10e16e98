// SPDX-License-Identifier: Apache-2.0
#include "runner/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
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

/// More than any document; a child that floods a channel is read on, and the flood dropped.
constexpr std::size_t most_text = std::size_t{64} << 20;

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

/// A pipe that a child writes to, and what came through it so far.
struct channel {
  descriptor from;
  descriptor into;
  std::string text{};
  bool open{true};
};

/// Above every descriptor that dup2 will write to, so that none is overwritten before it is used.
descriptor lifted(descriptor low) {
  return descriptor(fcntl(low.get(), F_DUPFD_CLOEXEC, 10));
}

channel open_channel() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw usage_error(std::string("cannot start a worker process: ") + std::strerror(errno));
  return {descriptor{ends[0]}, lifted(descriptor{ends[1]})};
}

/// What execve takes.
std::vector<char*> pointers_to(std::vector<std::string> const& words) {
  std::vector<char*> all;
  for (auto const& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(std::map<std::string, std::string> const& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string const text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (auto const& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

pid_t spawn(child_options const& how, int lines, int errors, int hand_over) {
  auto const arguments = pointers_to(how.command);
  auto const variables = environment_with(how.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, lines, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  posix_spawn_file_actions_adddup2(&actions, hand_over, hand_over_descriptor);
  pid_t child = -1;
  int const error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(),
                                pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw usage_error("cannot start " + how.command[0] + ": " + std::strerror(error));
  return child;
}

milliseconds left(steady_clock::time_point deadline) {
  auto const rest = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  return rest.count() > 0 ? rest : milliseconds{0};
}

/// Reads once from each channel that has something. False when nothing came before the deadline.
bool pump(std::array<channel, 3>& channels, steady_clock::time_point deadline) {
  auto const rest = left(deadline);
  if (rest.count() == 0) return false;
  std::array<pollfd, 3> waiting{};
  for (std::size_t i = 0; i < channels.size(); ++i)
    waiting[i] = {channels[i].open ? channels[i].from.get() : -1, POLLIN, 0};
  int const ready =
      poll(waiting.data(), waiting.size(), static_cast<int>(std::min<long>(rest.count(), 60'000)));
  if (ready < 0) return errno == EINTR;
  std::array<char, 65536> chunk;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (waiting[i].revents == 0) continue;
    auto const n = read(channels[i].from.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      channels[i].open = false;
    else if (channels[i].text.size() < most_text)
      channels[i].text.append(chunk.data(), static_cast<std::size_t>(n));
  }
  return true;
}

/// Passes on lines and gathers the rest until the child has closed all; false when the deadline
/// came first.
bool follow(std::array<channel, 3>& channels, steady_clock::time_point& deadline,
            child_options const& how) {
  auto& lines = channels[0];
  while (channels[0].open || channels[1].open || channels[2].open) {
    if (!pump(channels, deadline)) return false;
    for (auto end = lines.text.find('\n'); end != std::string::npos; end = lines.text.find('\n')) {
      auto const line = lines.text.substr(0, end);
      lines.text.erase(0, end + 1);
      if (how.on_line) how.on_line(line);
      if (how.more_time) deadline += how.more_time(line);
    }
  }
  return true;
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

child_outcome run_child(child_options const& how) {
  auto const start = steady_clock::now();
  auto deadline = start + how.limit;
  std::array<channel, 3> channels{open_channel(), open_channel(), open_channel()};
  auto& [lines, errors, hand_over] = channels;
  pid_t const child = spawn(how, lines.into.get(), errors.into.get(), hand_over.into.get());
  for (auto& c : channels) c.into.close();

  child_outcome outcome;
  std::optional<int> state;
  if (follow(channels, deadline, how)) state = reap(child, deadline);
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
  outcome.hand_over = std::move(hand_over.text);
  outcome.errors = std::move(errors.text);
  outcome.duration_s = std::chrono::duration<double>(steady_clock::now() - start).count();
  return outcome;
}

void die_with_parent(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

}  // namespace bandgate
