// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "runner/child.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using ending = child_outcome::ending;

child_outcome shell(std::string const& script, std::chrono::milliseconds limit = 20s,
                    std::function<void(std::string const&)> const& on_line = {}) {
  return run_child({.command = {"/bin/sh", "-c", script}, .limit = limit, .on_line = on_line});
}

std::size_t open_descriptors() {
  auto const all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(child, hands_over_what_it_wrote_and_its_exit_code) {
  auto const ended = shell("printf 'document' >&3; exit 7");
  EXPECT_EQ(ended.how, ending::exited);
  EXPECT_EQ(ended.code, 7);
  EXPECT_EQ(ended.hand_over, "document");
}

TEST(child, announces_each_line_as_it_comes) {
  std::vector<std::string> lines;
  shell("echo fill; echo 'warm-up'; printf tail", 20s,
        [&](std::string const& line) { lines.push_back(line); });
  EXPECT_THAT(lines, testing::ElementsAre("fill", "warm-up"));
}

TEST(child, keeps_the_end_of_its_standard_error) {
  EXPECT_EQ(shell("echo driver says no >&2").errors, "driver says no\n");
}

TEST(child, that_hangs_is_killed_at_its_limit) {
  auto const ended = shell("exec sleep 600", 300ms);
  EXPECT_EQ(ended.how, ending::timed_out);
  EXPECT_FALSE(ended.abandoned);
  EXPECT_LT(ended.duration_s, 0.3 + std::chrono::duration<double>(reap_limit).count());
}

TEST(child, that_closes_its_output_and_hangs_is_killed_too) {
  EXPECT_EQ(shell("exec sleep 600 >/dev/null", 300ms).how, ending::timed_out);
}

TEST(child, that_dies_by_a_signal_is_told_from_one_that_exits) {
  auto const ended = shell("kill -SEGV $$");
  EXPECT_EQ(ended.how, ending::signalled);
  EXPECT_EQ(ended.code, SIGSEGV);
}

TEST(child, that_cannot_be_started_names_the_program) {
  try {
    run_child({.command = {"/no/such/program"}, .limit = 1s});
    FAIL() << "started a program that does not exist";
  } catch (std::exception const& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("/no/such/program"));
  }
}

TEST(child, sees_no_descriptor_but_its_own_four) {
  for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    if (int const inherited = std::stoi(entry.path().filename()); inherited > 2)
      fcntl(inherited, F_SETFD, FD_CLOEXEC);  // whoever started the tests may have left some open
  // `ls` itself has its folder open, as the fifth.
  EXPECT_EQ(shell("exec ls /proc/self/fd >&3").hand_over, "0\n1\n2\n3\n4\n");
}

TEST(child, leaves_no_descriptor_behind) {
  shell("true");
  auto const before = open_descriptors();
  for (int i = 0; i < 20; ++i) shell("echo line; printf x >&3");
  EXPECT_EQ(open_descriptors(), before);
}

/// Starts a parent that starts a child which calls die_with_parent, kills the parent, and says
/// whether the child is gone.
TEST(child, dies_with_a_parent_that_is_killed) {
  int pids[2];
  ASSERT_EQ(pipe(pids), 0);
  pid_t const parent = fork();
  if (parent == 0) {
    pid_t const self = getpid();
    pid_t const child = fork();
    if (child == 0) {
      die_with_parent(self);
      pid_t const me = getpid();
      if (write(pids[1], &me, sizeof me) != sizeof me) _exit(1);
      for (;;) pause();
    }
    for (;;) pause();
  }
  pid_t child = 0;
  ASSERT_EQ(read(pids[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  // The orphan is adopted by this process, so that its end can be seen for certain.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  int state = 0;
  pid_t got = 0;
  for (int i = 0; i < 1000 && got != child; ++i) {
    got = waitpid(child, &state, WNOHANG);
    std::this_thread::sleep_for(5ms);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  if (got != child) kill(child, SIGKILL);
  ASSERT_EQ(got, child) << "the worker outlived its supervisor";
  EXPECT_TRUE(WIFSIGNALED(state));
}

TEST(child, whose_parent_is_gone_already_does_nothing) {
  auto const ended = shell("exit 0");
  ASSERT_EQ(ended.code, 0);
  pid_t const child = fork();
  if (child == 0) {
    die_with_parent(1);  // not this child's parent
    _exit(9);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

}  // namespace
}  // namespace bandgate
