// SPDX-License-Identifier: Apache-2.0
/// Many processes, one folder, no coordination; and death at any moment.
#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "records/child_process.hpp"
#include "records/result_fixture.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using testing::finish;
using testing::full_result;
using testing::start_child;
using testing::temporary_folder;
using testing::text_of;

void store_new(std::filesystem::path const& folder) {
  auto r = full_result();
  auto const now = std::chrono::system_clock::now();
  r.run.id = new_run_id(now);
  r.run.started = rfc3339(now);
  store_result(r, folder);
}

/// Ids of all *.json below; throws for a file that is not whole and valid.
std::set<std::string> stored_ids(std::filesystem::path const& folder) {
  std::set<std::string> ids;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json") ids.insert(read_result(entry.path()).run.id);
  return ids;
}

TEST(ManyWriters, TwelveProcessesLeaveThreeHundredValidFiles) {
  temporary_folder const folder;
  auto const root = folder.path() / "results";
  std::vector<pid_t> children;
  for (int p = 0; p < 12; ++p)
    children.push_back(start_child([&] {
      for (int i = 0; i < 25; ++i) store_new(root);
    }));
  for (auto const child : children) EXPECT_EQ(finish(child), 0);
  EXPECT_EQ(stored_ids(root).size(), 300U);
}

TEST(ManyWriters, AKillLeavesWholeFilesOnly) {
  temporary_folder const folder;
  // Killed at any point of the first writings, however long one takes here.
  store_new(folder.path());  // which reads the schemas
  auto const begin = std::chrono::steady_clock::now();
  store_new(folder.path());
  auto const one = std::chrono::ceil<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin + std::chrono::milliseconds(1));
  std::mt19937 random(20261129);
  std::uniform_int_distribution<long> microseconds(one.count() / 4, one.count() * 8);
  for (int round = 0; round < 40; ++round) {
    auto const child = start_child([&] {
      while (true) store_new(folder.path());
    });
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    ::kill(child, SIGKILL);
    EXPECT_EQ(WTERMSIG(finish(child)), SIGKILL);
  }
  EXPECT_NO_THROW(EXPECT_GT(stored_ids(folder.path()).size(), 2U));
}

TEST(ManyWriters, AReaderSeesOneFileOrTheOther) {
  temporary_folder const folder;
  auto const file = folder.path() / "f.json";
  std::string const a(500'000, 'a');
  std::string const b(300'000, 'b');
  write_atomically(file, a);
  auto const child = start_child([&] {
    while (true) {
      write_atomically(file, b);
      write_atomically(file, a);
    }
  });
  bool seen_a = false;
  bool seen_b = false;
  auto const enough = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (int i = 0; (i < 200 || !seen_a || !seen_b) && std::chrono::steady_clock::now() < enough;
       ++i) {
    auto const text = text_of(file);
    seen_a = seen_a || text == a;
    seen_b = seen_b || text == b;
    EXPECT_TRUE(text == a || text == b) << text.size();
  }
  ::kill(child, SIGKILL);
  finish(child);
  EXPECT_TRUE(seen_a && seen_b);
}

}  // namespace
}  // namespace bandgate
