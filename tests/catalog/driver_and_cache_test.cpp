// SPDX-License-Identifier: Apache-2.0
/// The probes of the driver's own work and of what is no memory traffic: memcpy_d2d, memset,
/// l2_read, launch.
#include <gmock/gmock.h>

#include "catalog/emulated_gpu.hpp"

namespace bandgate::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

struct made_ready {
  made_ready(emulated_gpu& gpu, char const* name, std::uint64_t size) {
    auto const& what = find_probe(name);
    auto const values = complete(what.parameters, {});
    planned.buffers = {{"data", {size}}};
    planned.bytes_per_pass = size;
    made = what.on_gpu(gpu, planned, values);
    shapes = what.shapes(values, gpu.facts());
    made->fill();
  }
  std::optional<std::string> verify(std::size_t shape = 0) {
    return made->verify(shapes.at(shape));
  }

  work planned;
  std::unique_ptr<kernel> made;
  std::vector<launch_shape> shapes;
};

TEST(memcpy_d2d, verifies_and_notices_every_fault_of_a_copy) {
  for (auto const how : {copy_fault::nothing, copy_fault::tail_missing, copy_fault::one_word_off,
                         copy_fault::one_bit, copy_fault::other_way}) {
    emulated_gpu gpu;
    made_ready probe(gpu, "memcpy_d2d", 65544);
    EXPECT_EQ(probe.verify(), std::nullopt);
    gpu.breaks_copies(how, emulated_gpu::every_copy, 65543);
    EXPECT_NE(probe.verify(), std::nullopt) << static_cast<int>(how);
  }
}

TEST(memset, verifies_and_notices_a_fill_that_stops_short) {
  emulated_gpu gpu;
  made_ready probe(gpu, "memset", 65544);
  EXPECT_EQ(probe.verify(), std::nullopt);
  probe.made->run(probe.shapes[0], 5);
  EXPECT_EQ(probe.verify(), std::nullopt);
  gpu.shortens_fills(1);
  EXPECT_THAT(probe.verify(), Optional(HasSubstr("at byte 65536")));
  gpu.shortens_fills(UINT64_MAX);
  EXPECT_THAT(probe.verify(), Optional(HasSubstr("at byte 0")));
}

TEST(l2_read, reads_the_whole_window_every_pass_whatever_its_size) {
  for (std::uint64_t const size : {16, 4096, 65536, 65552, 147456, 262144}) {
    emulated_gpu gpu;
    gpu.facts().processors = 2;
    made_ready probe(gpu, "l2_read", size);
    for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape)
      EXPECT_EQ(probe.verify(shape), std::nullopt) << size << " bytes, shape " << shape;
  }
}

TEST(l2_read, notices_missing_threads_wrong_blocks_and_flipped_bits) {
  for (auto const how : {fault::nothing_runs, fault::one_thread_missing, fault::last_block_missing,
                         fault::first_block_twice, fault::one_block_off}) {
    emulated_gpu gpu;
    gpu.facts().processors = 2;
    made_ready probe(gpu, "l2_read", 262144);
    gpu.breaks("l2_read", how, 1, 3);
    EXPECT_NE(probe.verify(), std::nullopt) << static_cast<int>(how);
  }
  emulated_gpu gpu;
  made_ready probe(gpu, "l2_read", 262144);
  gpu.first_buffer()[262143] ^= 1;
  EXPECT_NE(probe.verify(), std::nullopt);
}

TEST(launch, counts_its_launches) {
  emulated_gpu gpu;
  made_ready probe(gpu, "launch", 8);
  EXPECT_EQ(probe.verify(), std::nullopt);
  auto const further = probe.made->more(1e-6);
  ASSERT_EQ(further.size(), 1U);
  EXPECT_EQ(further[0].unit, "s");
  EXPECT_GT(further[0].value, 0);
  gpu.breaks("launch", fault::nothing_runs);
  EXPECT_THAT(probe.verify(), Optional(HasSubstr("1000 launches ran the kernel 0 times")));
}

}  // namespace
}  // namespace bandgate::testing
