// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bandgate/errors.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backend/host/host_cpu.hpp"
#include "backend/host/loops.hpp"
#include "backend/host/thread_pool.hpp"

namespace bandgate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> cpus_of_this_thread() {
  return usable_cpus();
}

TEST(Spread, TakesEvenlySpacedCpus) {
  EXPECT_THAT(spread({0, 1, 2, 3, 4, 5, 6, 7}, 2), ElementsAre(0, 4));
  EXPECT_THAT(spread({0, 1, 2, 3, 4, 5, 6}, 3), ElementsAre(0, 2, 4));
  EXPECT_THAT(spread({5, 9}, 2), ElementsAre(5, 9));
}

TEST(Spread, TakesAllWhereTheCountIsUnknownOrTooLarge) {
  EXPECT_THAT(spread({5, 9}, 0), ElementsAre(5, 9));
  EXPECT_THAT(spread({5, 9}, 64), ElementsAre(5, 9));
}

TEST(ThreadPool, PinsEachThreadToItsCpuAndLeavesTheCallerAlone) {
  auto const cpus = usable_cpus();
  thread_pool pool(cpus);
  ASSERT_EQ(pool.size(), cpus.size());
  std::vector<std::vector<int>> seen(pool.size());
  pool.run([&](unsigned i) { seen[i] = cpus_of_this_thread(); });
  for (unsigned i = 0; i < pool.size(); ++i) EXPECT_THAT(seen[i], ElementsAre(cpus[i]));
  EXPECT_EQ(usable_cpus(), cpus);
}

/// More threads than CPUs, so that they interleave on any machine.
std::vector<int> four_threads() {
  return std::vector<int>(4, usable_cpus().front());
}

TEST(ThreadPool, RunsEachIndexOnceInEveryRoundAndWaitsForAll) {
  thread_pool pool(four_threads());
  std::vector<std::atomic<int>> calls(4);
  for (int round = 1; round <= 200; ++round) {
    pool.run([&](unsigned i) { ++calls[i]; });
    for (auto const& count : calls) ASSERT_EQ(count.load(), round);
  }
}

TEST(ThreadPool, ThrowsWhatABodyThrewAfterAllHaveEnded) {
  thread_pool pool(four_threads());
  std::atomic<int> ended{0};
  auto const fail = [&](unsigned i) {
    if (i == 1) throw std::runtime_error("thread 1");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++ended;
  };
  try {
    pool.run(fail);
    FAIL() << "no exception";
  } catch (std::runtime_error const& e) {
    EXPECT_STREQ(e.what(), "thread 1");
  }
  EXPECT_EQ(ended, 3);
  pool.run([&](unsigned) { ++ended; });
  EXPECT_EQ(ended, 7);
}

TEST(ThreadPool, SaysWhichThreadCannotBePinned) {
  try {
    thread_pool pool({usable_cpus().front(), 1 << 18});
    FAIL() << "no exception";
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::device_failed);
    EXPECT_THAT(e.what(), HasSubstr("thread 1 could not be pinned to CPU 262144"));
  }
}

/// "S": asleep in the kernel, "R": running or ready to.
char state_of(int task) {
  std::ifstream stat("/proc/self/task/" + std::to_string(task) + "/stat");
  std::string const text(std::istreambuf_iterator<char>(stat), {});
  return text.at(text.rfind(')') + 2);
}

TEST(ThreadPool, SleepsWhenIdle) {
  thread_pool pool(four_threads());
  std::vector<int> tasks(4);
  pool.run([&](unsigned i) { tasks[i] = ::gettid(); });
  auto const all_asleep = [&] {
    for (int const task : tasks)
      if (state_of(task) != 'S') return false;
    return true;
  };
  // A spinning thread never gets there, however long this waits.
  for (int tries = 0; tries < 5000 && !all_asleep(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(all_asleep());
}

host_cpu cpu_with(bytes memory_free, unsigned threads = 1) {
  return {{.memory_free = memory_free, .processors = threads}, 7, plain_loops};
}

TEST(HostCpu, HasAThreadForEachUsableHardwareThread) {
  EXPECT_EQ(cpu_with(mib(64), 1).threads(), 1U);
  auto const all = cpu_with(mib(64), 100000);
  EXPECT_EQ(all.threads(), usable_cpus().size());
  EXPECT_EQ(all.facts().processors, usable_cpus().size());
}

TEST(HostCpu, AlignsTo2MiBWhateverLiesNextToIt) {
  auto cpu = cpu_with(mib(64));
  std::vector<buffer> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(cpu.allocate(mib(2), "data"));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().as<void>()) % (2U << 20), 0U) << i;
    // A page between this mapping and the next moves that one off its alignment.
    void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    held.emplace_back(page, bytes{4096}, [](void* p) { ::munmap(p, 4096); });
  }
}

TEST(HostCpu, AllocatesMemoryThatNobodyHasTouched) {
  auto cpu = cpu_with(mib(64));
  auto const data = cpu.allocate({(5ULL << 20) + 1}, "data");
  EXPECT_EQ(data.size(), (bytes{(5ULL << 20) + 1}));
  std::vector<unsigned char> resident(data.size().count / 4096 + 1, 2);
  ASSERT_EQ(::mincore(data.as<void>(), data.size().count, resident.data()), 0);
  EXPECT_THAT(resident, Each(0));
  data.as<char>()[5U << 20] = 1;  // the last byte is there
}

TEST(HostCpu, AsksForHugePages) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  auto cpu = cpu_with(mib(64));
  auto const data = cpu.allocate(mib(4), "data");
  std::ifstream maps("/proc/self/smaps");
  auto const begin = reinterpret_cast<std::uintptr_t>(data.as<void>());
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &from, &to) == 2) inside = from <= begin && begin < to;
    if (!inside || line.rfind("VmFlags:", 0) != 0) continue;
    EXPECT_THAT(line, HasSubstr(" hg"));
    return;
  }
  FAIL() << "the buffer is not in smaps";
}

std::string refusal(host_cpu& cpu, bytes size, char const* what) {
  try {
    auto const data = cpu.allocate(size, what);
    return "no exception";
  } catch (measurement_error const& e) {
    return std::string(to_string(e.code())) + ": " + e.what();
  }
}

TEST(HostCpu, RefusesWhatDoesNotFitInFreeMemory) {
  auto cpu = cpu_with(mib(64));
  auto const first = cpu.allocate(mib(40), "source");
  EXPECT_THAT(refusal(cpu, mib(40), "target"),
              AllOf(HasSubstr("out-of-memory: "), HasSubstr("'target' of 41943040 bytes"),
                    HasSubstr("67108864 bytes are free"), HasSubstr("41943040 of them taken")));
}

TEST(HostCpu, GivesTheRoomOfAFreedBufferBack) {
  auto cpu = cpu_with(mib(64));
  { auto const first = cpu.allocate(mib(40), "source"); }
  EXPECT_EQ(refusal(cpu, mib(40), "target"), "no exception");
}

TEST(HostCpu, SaysWhatCouldNotBeMapped) {
  auto cpu = cpu_with({UINT64_MAX});
  for (auto const size : {bytes{1ULL << 60}, bytes{UINT64_MAX}})
    EXPECT_THAT(refusal(cpu, size, "source"),
                AllOf(HasSubstr("out-of-memory: "), HasSubstr("'source' of "),
                      HasSubstr("Cannot allocate memory")));
}

TEST(HostCpu, ABufferMayOutliveIt) {
  buffer data;
  {
    auto cpu = cpu_with(mib(64));
    data = cpu.allocate(mib(4), "data");
  }
  data.as<char>()[0] = 1;
}

}  // namespace
}  // namespace bandgate
