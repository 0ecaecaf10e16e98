// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <bandgate/errors.hpp>

#include "records/schema.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using testing::error_of;
using testing::temporary_folder;

class ReadText : public ::testing::Test {
 protected:
  std::string refusal(std::filesystem::path const& file, std::uintmax_t most = 1000) {
    auto const message = error_of([&] { read_text(file, most); });
    auto const prefix = file.string() + ": ";
    EXPECT_THAT(message, ::testing::StartsWith(prefix));
    return message.substr(std::min(prefix.size(), message.size()));
  }
  temporary_folder folder;
};

TEST_F(ReadText, GivesEveryByte) {
  std::string const text("a\0\xff\r\n", 5);
  EXPECT_EQ(read_text(folder.write("f", text), 5), text);
  EXPECT_EQ(read_text(folder.write("empty", ""), 0), "");
  std::string const large(1'000'000, 'x');
  EXPECT_EQ(read_text(folder.write("large", large), large.size()), large);
}

TEST_F(ReadText, FollowsLinks) {
  folder.write("f", "text");
  std::filesystem::create_symlink("f", folder.path() / "link");
  EXPECT_EQ(read_text(folder.path() / "link", 10), "text");
}

TEST_F(ReadText, RefusesWhatIsTooLarge) {
  EXPECT_EQ(refusal(folder.write("f", "123456"), 5),
            "has 6 bytes, more than the 5 that such a file may have");
  auto const sparse = folder.write("sparse", "");
  std::filesystem::resize_file(sparse, 2ULL << 30);
  EXPECT_EQ(refusal(sparse), "has 2147483648 bytes, more than the 1000 that such a file may have");
}

TEST_F(ReadText, BoundsFilesThatDoNotSayTheirSize) {
  EXPECT_EQ(refusal("/proc/self/maps", 10), "has more than the 10 bytes that such a file may have");
}

TEST_F(ReadText, RefusesWhatIsNoFile) {
  EXPECT_EQ(refusal(folder.path()), "is a directory; give the path of a regular file");
  EXPECT_EQ(refusal("/dev/zero"), "is a device; give the path of a regular file");
  EXPECT_EQ(refusal("/dev/full"), "is a device; give the path of a regular file");
  EXPECT_EQ(refusal(folder.path() / "none"),
            "cannot be read: No such file or directory; check the path and its permissions");
  EXPECT_EQ(refusal(folder.write("f", "") / "below"),
            "cannot be read: Not a directory; check the path and its permissions");
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  EXPECT_EQ(
      refusal(folder.path() / "loop"),
      "cannot be read: Too many levels of symbolic links; check the path and its permissions");
}

TEST_F(ReadText, DoesNotWaitForAWriterOfAFifo) {
  auto const fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refusal(fifo), "is a FIFO; give the path of a regular file");
}

}  // namespace
}  // namespace bandgate
