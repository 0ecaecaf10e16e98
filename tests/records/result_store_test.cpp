// SPDX-License-Identifier: Apache-2.0
#include "records/result_store.hpp"

#include <csignal>
#include <limits>

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "records/child_process.hpp"
#include "records/result_fixture.hpp"
#include "records/result_json.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::error_of;
using testing::full_result;
using testing::in_child;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing::temporary_folder;
using testing::text_of;

constexpr char const* remedy =
    "; name another folder with --results DIR, or --results none to store nothing";

TEST(StoreResult, FilesByDateUnderTheRunId) {
  temporary_folder const folder;
  auto const root = folder.path() / "made" / "on demand";
  auto const file = store_result(full_result(), root);
  EXPECT_EQ(file, root / "2026" / "11" / "29" / "01939b2e-5f4b-7cc3-98c4-dc0c0c07398f.json");
  EXPECT_EQ(text_of(file), to_json(full_result()).dump() + "\n");
  EXPECT_EQ(to_json(read_result(file)).dump(), to_json(full_result()).dump());
}

TEST(StoreResult, SaysWhyAFolderDoesNotTakeIt) {
  temporary_folder const folder;
  auto const file = folder.write("file", "");
  EXPECT_EQ(error_of([&] { store_result(full_result(), file); }),
            file.string() + ": a result cannot be stored there: Not a directory" + remedy);
  EXPECT_EQ(error_of([&] { store_result(full_result(), "/dev/full"); }),
            std::string("/dev/full: a result cannot be stored there: Not a directory") + remedy);
  EXPECT_THAT(error_of([&] { store_result(full_result(), "/proc/results"); }),
              StartsWith("/proc/results: a result cannot be stored there: "));
}

TEST(StoreResult, LeavesNoPartAtTheFileSizeLimit) {
  temporary_folder const folder;
  EXPECT_EQ(in_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              rlimit const none{0, 0};
              ::setrlimit(RLIMIT_FSIZE, &none);
              return error_of([&] { store_result(full_result(), folder.path()); });
            }),
            folder.path().string() + ": a result cannot be stored there: File too large" + remedy);
  EXPECT_THAT(folder.names(), ElementsAre("2026"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "2026" / "11" / "29"));
}

TEST(StoreResult, StoresWholeFilesUntilTheDiskIsFull) {
  temporary_folder const folder;
  auto const seen = in_child([&]() -> std::string {
    if (!testing::mount_private(folder.path(), 0, "size=64k")) return "skip";
    auto r = full_result();
    for (int i = 0; i < 1000; ++i) {
      r.run.id = new_run_id({});
      auto const message = error_of([&] { store_result(r, folder.path()); });
      if (message == "no error") continue;
      int whole = 0;
      for (auto const& entry : std::filesystem::directory_iterator(folder.path() / "2026/11/29")) {
        read_result(entry.path());  // throws for a part, and for what is left of a failed write
        ++whole;
      }
      return message + (whole == i ? "" : " (whole files are missing)");
    }
    return "never full";
  });
  if (seen == "skip") GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(seen, folder.path().string() +
                      ": a result cannot be stored there: No space left on device" + remedy);
}

TEST(StoreResult, RefusesWhatNoReaderWouldTake) {
  temporary_folder const folder;
  auto r = full_result();
  r.measurement->median = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] { store_result(r, folder.path()); }),
            "the result of read: /measurement/median: null is not a number");
  r = full_result();
  r.run.id = "../../escape";
  EXPECT_THAT(error_of([&] { store_result(r, folder.path()); }),
              StartsWith("the result of read: /run/id: \"../../escape\" is not a UUIDv7"));
  r = full_result();
  r.run.started = "../../..";
  EXPECT_THAT(error_of([&] { store_result(r, folder.path()); }),
              StartsWith("the result of read: /run/started: \"../../..\" is not RFC 3339"));
  EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace bandgate
