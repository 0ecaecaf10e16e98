// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gmock/gmock.h>

#include "records/child_process.hpp"
#include "records/result_store.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::in_child;
using ::testing::IsEmpty;
using testing::mount_private;
using testing::temporary_folder;
using testing::text_of;

constexpr char const* no_mounts = "mounting is not permitted here";

class AtomicFile : public ::testing::Test {
 protected:
  std::string refusal(std::filesystem::path const& file, std::string const& text = "text") {
    return error_of([&] { write_atomically(file, text); });
  }
  temporary_folder folder;
};

TEST_F(AtomicFile, WritesAndReplaces) {
  auto const file = folder.path() / "f.json";
  write_atomically(file, "one");
  EXPECT_EQ(text_of(file), "one");
  write_atomically(file, std::string(300'000, 'x'));
  EXPECT_EQ(text_of(file), std::string(300'000, 'x'));
  write_atomically(file, "");
  EXPECT_EQ(text_of(file), "");
  EXPECT_THAT(folder.names(), ElementsAre("f.json"));
}

TEST_F(AtomicFile, TakesTheLongestName) {
  auto const name = std::string(255, 'n');
  write_atomically(folder.path() / name, "text");
  EXPECT_THAT(folder.names(), ElementsAre(name));
}

TEST_F(AtomicFile, WritesIntoTheWorkingFolder) {
  EXPECT_EQ(in_child([&] {
              std::filesystem::current_path(folder.path());
              write_atomically("f", "text");
              return text_of("f");
            }),
            "text");
}

TEST_F(AtomicFile, HonoursTheUmask) {
  EXPECT_EQ(in_child([&] {
              ::umask(027);
              write_atomically(folder.path() / "f", "text");
              struct stat seen {};
              ::stat((folder.path() / "f").c_str(), &seen);
              return std::to_string(seen.st_mode & 0777);
            }),
            std::to_string(0640));
}

TEST_F(AtomicFile, KeepsALinkAndReplacesItsTarget) {
  std::filesystem::create_directory(folder.path() / "real");
  auto const target = folder.write("real/f", "old");
  auto const link = folder.path() / "link";
  std::filesystem::create_symlink("real/f", link);
  write_atomically(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(target), "new");
}

TEST_F(AtomicFile, LeavesDevicesAndFoldersAlone) {
  auto const fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refusal(fifo),
            fifo.string() + ": is not a regular file and is left alone; name another");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_EQ(refusal(folder.path()),
            folder.path().string() + ": is not a regular file and is left alone; name another");
}

TEST_F(AtomicFile, SaysWhyItCannotWrite) {
  auto const advice = "; check the folder, its permissions and the space left, or name another";
  auto const below = folder.write("f", "") / "g";
  EXPECT_EQ(refusal(below), below.string() + ": cannot be written: Not a directory" + advice);
  auto const missing = folder.path() / "none" / "g";
  EXPECT_EQ(refusal(missing),
            missing.string() + ": cannot be written: No such file or directory" + advice);
  EXPECT_THAT(folder.names(), ElementsAre("f"));
}

TEST_F(AtomicFile, LeavesNothingBehindAtTheFileSizeLimit) {
  for (rlim_t const limit : {0, 4096}) {
    auto const file = folder.path() / "f";
    EXPECT_THAT(in_child([&] {
                  std::signal(SIGXFSZ, SIG_IGN);
                  rlimit const bound{limit, limit};
                  ::setrlimit(RLIMIT_FSIZE, &bound);
                  return refusal(file, std::string(10'000, 'x'));
                }),
                HasSubstr(file.string() + ": cannot be written: File too large; "));
    EXPECT_THAT(folder.names(), IsEmpty());
  }
}

TEST_F(AtomicFile, KeepsTheOldFileWhenTheDiskIsFull) {
  auto const seen = in_child([&]() -> std::string {
    if (!mount_private(folder.path(), 0, "size=64k")) return no_mounts;
    auto const file = folder.path() / "f";
    write_atomically(file, "old");
    auto message = refusal(file, std::string(100'000, 'x'));
    return message + "|" + text_of(file) + "|" + std::to_string(folder.names().size());
  });
  if (seen == no_mounts) GTEST_SKIP() << seen;
  EXPECT_EQ(seen, (folder.path() / "f").string() +
                      ": cannot be written: No space left on device; check the folder, its "
                      "permissions and the space left, or name another|old|1");
}

TEST_F(AtomicFile, SaysThatAFileSystemIsReadOnly) {
  auto const seen = in_child([&]() -> std::string {
    if (!mount_private(folder.path(), MS_RDONLY, "")) return no_mounts;
    return refusal(folder.path() / "f");
  });
  if (seen == no_mounts) GTEST_SKIP() << seen;
  EXPECT_THAT(seen, HasSubstr("f: cannot be written: Read-only file system; "));
}

}  // namespace
}  // namespace bandgate
