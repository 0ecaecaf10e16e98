// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bandgate/probe.hpp>

#include "catalog/fake_host.hpp"

namespace bandgate::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr std::uint64_t size = (3U << 20) + 4096 + 64;

struct host_case {
  char const* name;
  std::map<std::string, std::string> given;
  std::uint64_t window;
};

struct prepared_probe {
  prepared_probe(fake_host& host, host_case const& c) : what(find_probe(c.name)) {
    auto const values = complete(what.parameters, c.given);
    planned.buffers = {{"data", {size}}};
    planned.bytes_per_pass = c.window != 0 ? c.window : size;
    shape = what.shapes(values, host.facts()).at(0);
    made = what.on_host(host, planned, values);
    made->fill();
  }
  probe const& what;
  work planned;
  launch_shape shape;
  std::unique_ptr<kernel> made;
};

class every_host_probe : public ::testing::TestWithParam<host_case> {};

TEST_P(every_host_probe, verifies_before_and_after_running) {
  fake_host host;
  prepared_probe probe(host, GetParam());
  EXPECT_EQ(probe.made->verify(probe.shape), std::nullopt);
  probe.made->run(probe.shape, 3);
  EXPECT_EQ(probe.made->verify(probe.shape), std::nullopt);
}

TEST_P(every_host_probe, notices_loops_that_leave_out_the_last_line_of_a_run) {
  fake_host host;
  host.loops().sum64 = [](void const* p, std::uint64_t n) { return plain_loops.sum64(p, n - 64); };
  host.loops().sum32_seq = [](void const* p, std::uint64_t n) {
    return plain_loops.sum32_seq(p, n - 64);
  };
  host.loops().sum32_by4 = host.loops().sum32_seq;
  host.loops().store64 = [](void* p, std::uint64_t n, std::uint64_t w) {
    plain_loops.store64(p, n - 64, w);
  };
  host.loops().copy = [](void* to, void const* p, std::uint64_t n) {
    plain_loops.copy(to, p, n - 64);
  };
  host.loops().triad = [](double* a, double const* b, double const* c, std::uint64_t n, double f) {
    plain_loops.triad(a, b, c, n - 64, f);
  };
  prepared_probe probe(host, GetParam());
  EXPECT_NE(probe.made->verify(probe.shape), std::nullopt);
}

TEST_P(every_host_probe, notices_a_flipped_bit) {
  bool const reads = GetParam().name != std::string("write");  // a write puts it right
  for (std::uint64_t const place : {std::uint64_t{0}, std::uint64_t{1} << 20, size - 1}) {
    fake_host host;
    prepared_probe probe(host, GetParam());
    host.first_buffer()[place] ^= 0x40;
    EXPECT_EQ(probe.made->verify(probe.shape).has_value(), reads) << place;
  }
}

INSTANTIATE_TEST_SUITE_P(catalog, every_host_probe,
                         ::testing::Values(host_case{"read", {}, 0}, host_case{"read_seq", {}, 0},
                                           host_case{"read_unroll", {}, 0},
                                           host_case{"read_window", {}, 1U << 20},
                                           host_case{"read_window", {}, 20480},
                                           host_case{"write", {}, 0}, host_case{"copy", {}, 0},
                                           host_case{"triad", {}, 0},
                                           host_case{"copy", {{"window", "1MiB"}}, 0}),
                         [](auto const& each) {
                           auto const& c = each.param;
                           return c.name + std::string(c.given.empty() ? "" : "_windowed") +
                                  (c.window != 0 ? "_" + std::to_string(c.window) : "");
                         });

TEST(write_on_host, says_where_a_store_is_missing) {
  fake_host host;
  prepared_probe probe(host, {"write", {}, 0});
  host.loops().store64 = [](void* p, std::uint64_t n, std::uint64_t w) {
    plain_loops.store64(p, n, w);
    static_cast<std::uint64_t*>(p)[3] ^= 1;
  };
  EXPECT_THAT(probe.made->verify(probe.shape), Optional(HasSubstr("at byte 24")));
}

}  // namespace
}  // namespace bandgate::testing
