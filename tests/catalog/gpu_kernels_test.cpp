// SPDX-License-Identifier: Apache-2.0
/// The probes' own GPU kernels, run thread by thread: every index to the last element, and whether
/// the verification notices work that is left out, misplaced, stale or corrupted.
#include <gmock/gmock.h>

#include <algorithm>

#include "catalog/emulated_gpu.hpp"

namespace bandgate::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

/// A probe on the emulated GPU with a buffer of any size (the plan's are whole MiB).
struct prepared_probe {
  prepared_probe(emulated_gpu& gpu, std::string const& name, std::uint64_t size,
                 std::map<std::string, std::string> const& given = {}, std::uint64_t window = 0)
      : what(find_probe(name)), values(complete(what.parameters, given)) {
    planned.buffers = {{"data", {size}}};
    planned.bytes_per_pass = window != 0 ? window : size;
    made = what.on_gpu(gpu, planned, values);
    shapes = what.shapes(values, gpu.facts());
    made->fill();
  }
  std::optional<std::string> verify(std::size_t shape = 0) {
    return made->verify(shapes.at(shape));
  }

  probe const& what;
  parameters values;
  work planned;
  std::unique_ptr<kernel> made;
  std::vector<launch_shape> shapes;
};

class every_probe : public ::testing::TestWithParam<char const*> {
 protected:
  /// A size that no tile, block range or step divides; windows walk a pool of it.
  static constexpr std::uint64_t odd_size = (1U << 20) + 48;
  static constexpr std::uint64_t window = 33 * 4096;

  prepared_probe prepare(emulated_gpu& gpu, std::uint64_t size = odd_size) const {
    auto const fitting = std::clamp<std::uint64_t>(size / 32 * 16, 16, window);
    return {gpu, name(), size, {}, name() == "read_window" ? fitting : 0};
  }
  std::string name() const { return GetParam(); }
  /// In the last shape every block and thread has work, also of so small a buffer.
  static std::size_t last(prepared_probe const& p) { return p.shapes.size() - 1; }
  bool stores() const { return name() == "write" || name() == "copy" || name() == "triad"; }
};

TEST_P(every_probe, verifies_in_every_shape) {
  emulated_gpu gpu;
  auto probe = prepare(gpu);
  for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape) {
    EXPECT_EQ(probe.verify(shape), std::nullopt) << "shape " << shape;
    probe.made->run(probe.shapes[shape], 2);
    EXPECT_EQ(probe.verify(shape), std::nullopt) << "again, shape " << shape;
  }
}

TEST_P(every_probe, verifies_sizes_round_the_tile) {
  // 49184: of eight blocks each has 1537 elements, one more than three steps of 512.
  for (std::uint64_t const size : {16, 24, 32, 8176, 8184, 8192, 8200, 8208, 49184, 65520, 65528,
                                   65536, 65544, 65552, 131088}) {
    if (size % 16 != 0 && GetParam() == std::string("read_window")) continue;
    emulated_gpu gpu;
    auto probe = prepare(gpu, size);
    for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape)
      EXPECT_EQ(probe.verify(shape), std::nullopt) << size << " bytes, shape " << shape;
  }
}

TEST_P(every_probe, notices_that_nothing_ran_although_an_earlier_pass_was_right) {
  emulated_gpu gpu;
  auto probe = prepare(gpu);
  ASSERT_EQ(probe.verify(), std::nullopt);
  gpu.breaks(GetParam(), fault::nothing_runs);
  EXPECT_NE(probe.verify(), std::nullopt);
}

TEST_P(every_probe, notices_one_missing_thread) {
  for (std::uint64_t const thread : {0, 1, 127}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu);
    gpu.breaks(GetParam(), fault::one_thread_missing, 0, thread);
    EXPECT_NE(probe.verify(last(probe)), std::nullopt) << "thread " << thread;
  }
}

TEST_P(every_probe, notices_a_skipped_tail) {
  emulated_gpu gpu;
  auto probe = prepare(gpu);
  gpu.breaks(GetParam(), fault::last_block_missing);
  EXPECT_NE(probe.verify(last(probe)), std::nullopt);
}

TEST_P(every_probe, notices_a_wrong_index) {
  for (auto const how : {fault::one_block_off, fault::first_block_twice}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu);
    gpu.breaks(GetParam(), how);
    EXPECT_NE(probe.verify(last(probe)), std::nullopt);
  }
}

TEST_P(every_probe, notices_a_flipped_bit_in_the_first_and_the_last_byte) {
  for (std::uint64_t const place : {std::uint64_t{0}, odd_size - 1}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu);
    if (stores())
      gpu.after(GetParam(), [&] { gpu.last_buffer()[place] ^= 0x10; });
    else
      gpu.first_buffer()[place] ^= 0x10;
    EXPECT_NE(probe.verify(), std::nullopt) << "byte " << place;
  }
}

INSTANTIATE_TEST_SUITE_P(catalog, every_probe,
                         ::testing::Values("read", "read_seq", "read_unroll", "read_window",
                                           "triad", "write", "copy"),
                         [](auto const& each) { return std::string(each.param); });

TEST(copy_on_gpu, says_where_the_copy_differs) {
  emulated_gpu gpu;
  prepared_probe probe(gpu, "copy", 1 << 16);
  gpu.after("copy", [&] { gpu.last_buffer()[40003] ^= 1; });
  EXPECT_THAT(probe.verify(), Optional(HasSubstr("at byte 40000")));
}

TEST(copy_on_gpu, notices_a_source_that_changed) {
  emulated_gpu gpu;
  prepared_probe probe(gpu, "copy", 1 << 16);
  gpu.first_buffer()[77] ^= 1;
  EXPECT_THAT(probe.verify(), Optional(HasSubstr("at byte 72")));
}

TEST(vectors, leave_no_odd_word_out) {
  for (char const* name : {"read", "write", "copy", "triad"}) {
    emulated_gpu gpu;
    prepared_probe probe(gpu, name, 8192 + 8);
    EXPECT_EQ(probe.verify(), std::nullopt) << name;
    // The last word is the work of the very first thread.
    gpu.breaks(name, fault::one_thread_missing, 0, 0);
    EXPECT_NE(probe.verify(), std::nullopt) << name;
  }
  emulated_gpu gpu;
  prepared_probe probe(gpu, "triad", 8192 + 8);
  gpu.after("triad", [&] { gpu.memory("buffer a")[8192] ^= 1; });
  EXPECT_THAT(probe.verify(), Optional(HasSubstr("a[1024]")));
}

TEST(write_on_gpu, says_where_a_store_is_missing) {
  emulated_gpu gpu;
  prepared_probe probe(gpu, "write", 1 << 16);
  gpu.breaks("write", fault::one_thread_missing, 2, 5);
  EXPECT_THAT(probe.verify(), Optional(HasSubstr("at byte " + std::to_string((2 * 256 + 5) * 16))));
}

TEST(write_on_gpu, writes_other_values_at_every_pass) {
  emulated_gpu gpu;
  prepared_probe probe(gpu, "write", 4096);
  probe.made->run(probe.shapes[0], 1);
  std::vector<unsigned char> const first(gpu.last_buffer(), gpu.last_buffer() + 4096);
  probe.made->run(probe.shapes[0], 1);
  for (std::size_t i = 0; i < 4096; i += 8)
    EXPECT_NE(std::memcmp(first.data() + i, gpu.last_buffer() + i, 8), 0) << i;
}

struct element_case {
  char const* dtype;
  unsigned bytes;
};

TEST(read_window_on_gpu, verifies_every_element_type_vector_and_layout) {
  for (auto const& element : {element_case{"u8", 1},
                              {"i8", 1},
                              {"u16", 2},
                              {"i16", 2},
                              {"u32", 4},
                              {"i32", 4},
                              {"f32", 4},
                              {"u64", 8},
                              {"i64", 8},
                              {"f64", 8}})
    for (unsigned vector = 1; vector * element.bytes <= 32; vector *= 2)
      for (char const* layout : {"coalesced", "blocked"}) {
        emulated_gpu gpu;
        prepared_probe probe(
            gpu, "read_window", 1 << 17,
            {{"dtype", element.dtype}, {"vector", std::to_string(vector)}, {"layout", layout}},
            24 * 1024);
        auto const what = std::string(element.dtype) + " x" + std::to_string(vector) + layout;
        EXPECT_EQ(probe.verify(), std::nullopt) << what;
        gpu.first_buffer()[(1 << 17) - 1] ^= 0x80;
        EXPECT_NE(probe.verify(), std::nullopt) << what;
      }
}

TEST(read_window_on_gpu, verifies_windows_smaller_and_larger_than_the_grid) {
  // Two and four blocks of 512 threads with 16-byte vectors: steps of 16 and 32 KiB.
  for (std::uint64_t const window : {16, 8192, 16368, 16384, 16400, 40000, 65536})
    for (char const* layout : {"coalesced", "blocked"}) {
      emulated_gpu gpu;
      prepared_probe probe(gpu, "read_window", 131072, {{"layout", layout}}, window);
      for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape)
        EXPECT_EQ(probe.verify(shape), std::nullopt) << window << " " << layout;
    }
}

TEST(windowed_copy_on_gpu, verifies_and_goes_on_where_the_last_launch_ended) {
  emulated_gpu gpu;
  prepared_probe probe(gpu, "copy", 5 << 20, {{"window", "2MiB"}});
  auto const copied = [&](std::uint64_t mebibyte) {
    return std::memcmp(gpu.first_buffer() + (mebibyte << 20), gpu.last_buffer() + (mebibyte << 20),
                       1 << 20) == 0;
  };
  probe.made->run(probe.shapes[0], 1);
  EXPECT_TRUE(copied(0) && copied(1));
  EXPECT_FALSE(copied(2) || copied(3) || copied(4));
  probe.made->run(probe.shapes[0], 2);
  EXPECT_TRUE(copied(2) && copied(3) && copied(4));
  EXPECT_EQ(probe.verify(), std::nullopt);
  gpu.after("copy", [&] { gpu.last_buffer()[(5 << 20) - 1] ^= 1; });
  EXPECT_NE(probe.verify(), std::nullopt);
}

}  // namespace
}  // namespace bandgate::testing
