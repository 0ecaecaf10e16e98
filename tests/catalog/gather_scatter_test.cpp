// SPDX-License-Identifier: Apache-2.0
/// The index rules, what counts as right in an output, and the two probes: their kernels run thread
/// by thread, and whether the verification notices what is left out, misplaced, stale or corrupted.
#include <gmock/gmock.h>

#include <algorithm>
#include <bandgate/indirect_access.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "catalog/emulated_gpu.hpp"
#include "catalog/fake_host.hpp"

namespace bandgate::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::ThrowsMessage;

constexpr std::uint64_t seed = 0x0123456789abcdefULL;
constexpr std::uint64_t one = 1;

std::vector<std::uint64_t> table(index_rule const& rule) {
  std::vector<std::uint64_t> all(rule.elements);
  for (std::uint64_t i = 0; i < rule.elements; ++i) all[i] = rule.at(i);
  return all;
}

std::vector<std::uint64_t> counting(std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

TEST(permutation, has_each_element_once_and_stays_in_its_block) {
  for (std::uint64_t const elements : {1, 2, 3, 5, 64, 97, 1000, 1009, 4096, 65537, 100003})
    for (std::uint64_t const span : {1, 2, 3, 7, 16, 97, 256, 1000, 1024, 4093, 65537, 100003}) {
      if (span > elements) continue;
      auto all = table(make_index_rule(elements, span, false, seed));
      for (std::uint64_t i = 0; i < elements; ++i)
        ASSERT_EQ(all[i] / span, i / span) << elements << " in blocks of " << span << ", " << i;
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, counting(elements)) << elements << " in blocks of " << span;
    }
}

TEST(permutation, is_the_identity_at_span_1) {
  EXPECT_EQ(table(make_index_rule(1000, 1, false, seed)), counting(1000));
}

/// Mean of |index(i) - i|; a third of the span where indices are random.
double displacement(std::uint64_t span) {
  auto const rule = make_index_rule(1 << 16, span, false, seed);
  double sum = 0;
  for (std::uint64_t i = 0; i < rule.elements; ++i)
    sum += std::abs(static_cast<double>(rule.at(i)) - static_cast<double>(i));
  return sum / static_cast<double>(rule.elements);
}

TEST(permutation, displaces_by_a_third_of_the_span) {
  for (std::uint64_t const span : {16, 100, 256, 1024, 4096, 65536}) {
    auto const n = static_cast<double>(span);
    EXPECT_NEAR(displacement(span), (n * n - 1) / (3 * n), 0.02 * n) << span;
  }
}

/// Chi-squared of counts that should be equal, less its mean, in standard deviations.
double surprise(std::vector<std::uint64_t> const& counts) {
  auto const sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  auto const expected = static_cast<double>(sum) / static_cast<double>(counts.size());
  double chi = 0;
  for (auto const count : counts)
    chi += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected);
  auto const freedom = static_cast<double>(counts.size() - 1);
  return (chi / expected - freedom) / std::sqrt(2 * freedom);
}

TEST(permutation, sends_every_place_of_a_block_everywhere) {
  for (std::uint64_t const span : {16, 31, 64, 100}) {
    auto const rule = make_index_rule(span * 20000, span, false, seed);
    std::vector<std::uint64_t> counts(span * span);
    for (std::uint64_t i = 0; i < rule.elements; ++i) ++counts[i % span * span + rule.at(i) % span];
    EXPECT_LT(std::abs(surprise(counts)), 6) << span;
  }
}

TEST(permutation, leaves_nothing_of_how_neighbours_lie) {
  // One block: the distance between the indices of neighbours, in 64 classes.
  for (std::uint64_t const span : {256, 1 << 10, 1 << 12, 5000, 1 << 16, 1 << 18, 100003})
    for (std::uint64_t const apart : {1, 2, 32, 200})
      for (std::uint64_t other = 0; other < 10; ++other) {
        auto const rule = make_index_rule(span, span, false, seed + other);
        std::vector<std::uint64_t> counts(64);
        for (std::uint64_t i = 0; i + apart < span; ++i)
          ++counts[(rule.at(i + apart) + span - rule.at(i)) % span * 64 / span];
        EXPECT_LT(std::abs(surprise(counts)), 6) << span << " apart " << apart << " " << other;
      }
}

TEST(permutation, differs_between_blocks_and_seeds) {
  auto const rule = make_index_rule(2048, 1024, false, seed);
  auto const other = make_index_rule(2048, 1024, false, seed + 1);
  int same_block = 0;
  int same_seed = 0;
  for (std::uint64_t i = 0; i < 1024; ++i) {
    same_block += rule.at(i) == rule.at(i + 1024) - 1024;
    same_seed += rule.at(i) == other.at(i);
  }
  EXPECT_LT(same_block, 10);  // one, by chance
  EXPECT_LT(same_seed, 10);
}

TEST(index_rules, hold_beyond_32_bits) {
  for (auto const elements : {(one << 31) - 1, one << 31, (one << 31) + 1, one << 32, one << 33,
                              (one << 33) + 7, one << 39})
    for (bool const sliding : {false, true}) {
      auto const rule = make_index_rule(elements, elements, sliding, seed);
      std::set<std::uint64_t> seen;
      std::uint64_t most = 0;
      for (std::uint64_t k = 0; k < 2000; ++k) {
        auto const index = rule.at(elements - 1 - k);
        EXPECT_LT(index, elements);
        most = std::max(most, index);
        seen.insert(index);
      }
      EXPECT_GT(most, elements / 100 * 98) << elements;
      if (!sliding) {
        EXPECT_EQ(seen.size(), 2000U) << elements;
      }
    }
}

TEST(sliding, is_i_less_half_the_span_plus_a_random_number_wrapped) {
  constexpr std::uint64_t elements = 10007;
  for (std::uint64_t const span : {2, 3, 16, 255, 1024}) {
    auto const rule = make_index_rule(elements, span, true, seed);
    std::vector<std::uint64_t> counts(span);
    for (std::uint64_t i = 0; i < elements; ++i) {
      auto const number = (rule.at(i) + elements + span / 2 - i) % elements;
      ASSERT_LT(number, span) << i;
      ++counts[number];
    }
    EXPECT_LT(std::abs(surprise(counts)), 6) << span;
  }
}

TEST(sliding, is_the_identity_at_span_1_and_wraps_at_both_ends) {
  EXPECT_EQ(table(make_index_rule(1000, 1, true, seed)), counting(1000));
  auto const all = table(make_index_rule(1000, 500, true, seed));
  EXPECT_GT(*std::max_element(all.begin(), all.begin() + 100), 750U);
  EXPECT_LT(*std::min_element(all.end() - 100, all.end()), 250U);
}

TEST(sliding, reaches_63_percent_of_the_elements_over_the_whole_vector) {
  auto const all = table(make_index_rule(100000, 100000, true, seed));
  auto const reached = std::set<std::uint64_t>(all.begin(), all.end()).size();
  EXPECT_NEAR(static_cast<double>(reached), 63212, 500);
}

TEST(numbered_data, tells_every_element_and_whence_it_came) {
  using wide = numbered_data<std::uint64_t>;
  using narrow = numbered_data<std::uint32_t>;
  std::set<std::uint64_t> wides, narrows;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    wides.insert(wide::at(seed, i));
    narrows.insert(narrow::at(seed, i));
    EXPECT_EQ(wide::source(seed, 0, wide::at(seed, i)), i);
    EXPECT_EQ(narrow::source(seed, 0, narrow::at(seed, i)), i);
  }
  EXPECT_EQ(wides.size(), 10000U);
  EXPECT_EQ(narrows.size(), 10000U);
  auto const far = (one << 33) + 12345;
  EXPECT_EQ(wide::source(seed, 0, wide::at(seed, far)), far);
  EXPECT_EQ(narrow::source(seed, 2, narrow::at(seed, far)), far);
  EXPECT_NE(narrow::at(seed, far), narrow::at(seed, 12345));
}

template <class Word>
struct every_word : ::testing::Test {};
using words = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(every_word, words);

TYPED_TEST(every_word, is_right_exactly_where_it_belongs_and_poison_nowhere) {
  using data = numbered_data<TypeParam>;
  for (bool const sliding : {false, true}) {
    auto const rule = make_index_rule(300, 37, sliding, seed);
    gathered<TypeParam> const gather{rule, seed};
    scattered<TypeParam> const scatter{rule, seed};
    for (std::uint64_t place = 0; place < 300; ++place) {
      for (std::uint64_t i = 0; i < 310; ++i) {
        EXPECT_EQ(gather.right(place, data::at(seed, i)), rule.at(place) == i);
        EXPECT_EQ(scatter.right(place, data::at(seed, i)), i < 300 && rule.at(i) == place);
        EXPECT_EQ(acceptable(scatter, place, data::at(seed, i)), i < 300 && rule.at(i) == place);
      }
      EXPECT_FALSE(gather.right(place, poison(gather, place)));
      EXPECT_FALSE(scatter.right(place, poison(scatter, place)));
      EXPECT_FALSE(acceptable(gather, place, poison(gather, place)));
      EXPECT_EQ(acceptable(scatter, place, poison(scatter, place)), sliding);
    }
  }
}

struct access_case {
  char const* probe;
  char const* mode;
  char const* index;
  char const* dtype;
  bool scatters() const { return probe == std::string("scatter"); }
  std::uint64_t word() const { return dtype == std::string("f64") ? 8 : 4; }
  std::uint64_t entry() const { return index == std::string("64") ? 8 : 4; }
  std::map<std::string, std::string> given(std::uint64_t span) const {
    return {{"mode", mode}, {"index", index}, {"dtype", dtype}, {"span", std::to_string(span)}};
  }
  work planned(std::uint64_t elements) const {
    work w;
    w.buffers = {{"in", {elements * word()}},
                 {"out", {elements * word()}},
                 {"index", {elements * entry()}},
                 {"scratch", {8192}}};
    return w;
  }
};

std::vector<access_case> all_cases() {
  std::vector<access_case> all;
  for (auto const* probe : {"gather", "scatter"})
    for (auto const* mode : {"permutation", "sliding"})
      for (auto const* index : {"32", "64"})
        for (auto const* dtype : {"f64", "f32"}) all.push_back({probe, mode, index, dtype});
  return all;
}

std::string name_of(::testing::TestParamInfo<access_case> const& each) {
  auto const& c = each.param;
  return std::string(c.probe) + "_" + c.mode + "_" + c.index + "_" + c.dtype;
}

/// The probe with vectors of any size (the plan's are larger than a cache).
struct prepared_access {
  prepared_access(emulated_gpu& gpu, access_case const& c, std::uint64_t elements,
                  std::uint64_t span)
      : what(find_probe(c.probe)), values(complete(what.parameters, c.given(span))) {
    made = what.on_gpu(gpu, c.planned(elements), values);
    shapes = what.shapes(values, gpu.facts());
    made->fill();
  }
  std::optional<std::string> verify(std::size_t shape = 0) {
    return made->verify(shapes.at(shape));
  }
  probe const& what;
  parameters values;
  std::unique_ptr<kernel> made;
  std::vector<launch_shape> shapes;
};

class every_access : public ::testing::TestWithParam<access_case> {
 protected:
  /// Several tiles of every shape, and a part of one.
  static constexpr std::uint64_t odd = 3 * 8192 + 331;
  prepared_access prepare(emulated_gpu& gpu, std::uint64_t elements = odd,
                          std::uint64_t span = 1000) const {
    return {gpu, GetParam(), elements, std::min(span, elements)};
  }
};

TEST_P(every_access, verifies_in_every_shape_and_span) {
  for (std::uint64_t const span : {1, 2, 61, 1024, 24907}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu, odd, span);
    for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape) {
      EXPECT_EQ(probe.verify(shape), std::nullopt) << span << ", shape " << shape;
      probe.made->reset();
      probe.made->run(probe.shapes[shape], 2);
      EXPECT_EQ(probe.verify(shape), std::nullopt) << span << ", again, shape " << shape;
    }
  }
}

TEST_P(every_access, verifies_sizes_round_the_tiles) {
  for (std::uint64_t const elements :
       {1, 2, 3, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 8191, 8192}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu, elements);
    for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape)
      EXPECT_EQ(probe.verify(shape), std::nullopt) << elements << ", shape " << shape;
  }
}

TEST_P(every_access, notices_that_nothing_ran_although_an_earlier_pass_was_right) {
  emulated_gpu gpu;
  auto probe = prepare(gpu);
  ASSERT_EQ(probe.verify(), std::nullopt);
  gpu.breaks(GetParam().probe, fault::nothing_runs);
  EXPECT_NE(probe.verify(), std::nullopt);
}

TEST_P(every_access, notices_one_missing_thread_in_every_shape) {
  emulated_gpu gpu;
  auto probe = prepare(gpu);
  for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape)
    for (std::uint64_t const thread : {0, 1, 127}) {
      gpu.breaks(GetParam().probe, fault::one_thread_missing, 0, thread);
      EXPECT_NE(probe.verify(shape), std::nullopt) << "shape " << shape << " thread " << thread;
    }
}

TEST_P(every_access, notices_blocks_that_are_missing_repeated_or_misplaced) {
  for (auto const how :
       {fault::last_block_missing, fault::first_block_twice, fault::one_block_off}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu);
    for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape) {
      gpu.breaks(GetParam().probe, how);
      EXPECT_NE(probe.verify(shape), std::nullopt) << "shape " << shape;
    }
  }
}

TEST_P(every_access, notices_one_bit_of_the_output) {
  auto const bytes = odd * GetParam().word();
  for (std::uint64_t const place : {std::uint64_t{0}, bytes / 2 + 3, bytes - 1}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu);
    gpu.after(GetParam().probe, [&] { gpu.last_buffer()[place] ^= 0x10; });
    EXPECT_NE(probe.verify(), std::nullopt) << "byte " << place;
  }
}

TEST_P(every_access, notices_a_corrupted_entry_of_the_table) {
  for (std::uint64_t const entry : {std::uint64_t{0}, odd / 2, odd - 1}) {
    emulated_gpu gpu;
    auto probe = prepare(gpu);
    gpu.first_buffer()[entry * GetParam().entry()] ^= 1;
    EXPECT_THAT(probe.verify(),
                Optional(HasSubstr("table is wrong at entry " + std::to_string(entry))));
  }
}

TEST_P(every_access, resets_before_every_pass_without_touching_what_it_works_on) {
  emulated_gpu gpu;
  auto probe = prepare(gpu);
  EXPECT_TRUE(probe.made->resets());
  probe.made->run(probe.shapes[0], 1);
  std::vector<unsigned char> const before(gpu.last_buffer(),
                                          gpu.last_buffer() + odd * GetParam().word());
  probe.made->reset();
  EXPECT_EQ(std::memcmp(before.data(), gpu.last_buffer(), before.size()), 0);
  EXPECT_EQ(probe.verify(), std::nullopt);
}

TEST_P(every_access, verifies_on_the_host) {
  for (std::uint64_t const elements : {1, 5, 1024, 5000, 24907})
    for (std::uint64_t const span : {1, 2, 61, 1024, 24907}) {
      fake_host host;
      auto const& what = find_probe(GetParam().probe);
      auto const values = complete(what.parameters, GetParam().given(std::min(span, elements)));
      auto const made = what.on_host(host, GetParam().planned(elements), values);
      auto const shape = what.shapes(values, host.facts()).at(0);
      made->fill();
      EXPECT_EQ(made->verify(shape), std::nullopt) << elements << " " << span;
      made->reset();
      made->run(shape, 2);
      EXPECT_EQ(made->verify(shape), std::nullopt) << elements << " " << span;
      host.first_buffer()[0] ^= 2;
      EXPECT_THAT(made->verify(shape), Optional(HasSubstr("table is wrong at entry 0")));
    }
}

INSTANTIATE_TEST_SUITE_P(catalog, every_access, ::testing::ValuesIn(all_cases()), name_of);

// What a host's pass does wrong, in each mode.

using host_arrays = indirect_arrays<std::uint64_t, std::uint32_t>;
using host_device = indirect_on_host<std::uint64_t, std::uint32_t>;

template <template <class> class Check>
std::optional<std::string> verified(char const* mode, host_device::pass pass) {
  fake_host host;
  access_case const c{"gather", mode, "32", "f64"};
  auto const values = complete(find_probe("gather").parameters, c.given(64));
  indirect_kernel<host_device, Check<std::uint64_t>, std::uint32_t> made(host, c.planned(9000),
                                                                         values, pass);
  made.fill();
  return made.verify({});
}

template <int Broken>
void gather_on_host(host_arrays const& a, run_of run) {
  for (auto i = run.begin; i < run.end; ++i) {
    if (Broken == 1 && i + 1 == a.elements) continue;
    auto const wrong = Broken == 2 && i == 4567 ? 1U : 0U;
    a.out[i] = a.in[a.index[i] ^ wrong] ^ (Broken == 3 && i == 8191 ? 0xff00 : 0);
  }
}
template <int Broken>
void scatter_on_host(host_arrays const& a, run_of run) {
  for (auto i = run.begin; i < run.end; ++i) {
    if (Broken == 1 && i + 1 == a.elements) continue;
    auto const wrong = Broken == 2 && i == 4567 ? 1U : 0U;
    a.out[a.index[i] ^ wrong] = a.in[i] ^ (Broken == 3 && i == 8191 ? 0xff00 : 0);
  }
}

TEST(broken_passes_on_the_host, are_noticed) {
  for (auto const* mode : {"permutation", "sliding"}) {
    EXPECT_EQ(verified<gathered>(mode, &gather_on_host<0>), std::nullopt) << mode;
    EXPECT_NE(verified<gathered>(mode, &gather_on_host<1>), std::nullopt) << mode;
    EXPECT_THAT(verified<gathered>(mode, &gather_on_host<2>), Optional(HasSubstr("element 4567")));
    EXPECT_THAT(verified<gathered>(mode, &gather_on_host<3>), Optional(HasSubstr("element 8191")));
    EXPECT_EQ(verified<scattered>(mode, &scatter_on_host<0>), std::nullopt) << mode;
    EXPECT_NE(verified<scattered>(mode, &scatter_on_host<1>), std::nullopt) << mode;
    EXPECT_NE(verified<scattered>(mode, &scatter_on_host<2>), std::nullopt) << mode;
    EXPECT_NE(verified<scattered>(mode, &scatter_on_host<3>), std::nullopt) << mode;
  }
}

TEST(broken_passes_on_the_host, that_do_the_other_ones_work_are_noticed) {
  for (auto const* mode : {"permutation", "sliding"}) {
    EXPECT_NE(verified<gathered>(mode, &scatter_on_host<0>), std::nullopt) << mode;
    EXPECT_NE(verified<scattered>(mode, &gather_on_host<0>), std::nullopt) << mode;
  }
}

// Plans.

device_facts h200() {
  device_facts facts;
  facts.memory_total = mib(143771);
  facts.memory_free = gib(139);
  facts.last_level_cache = mib(60);
  facts.processors = 132;
  facts.compute_capability = 90;
  facts.is_gpu = true;
  return facts;
}

device_facts laptop() {
  device_facts facts;
  facts.memory_total = gib(16);
  facts.memory_free = gib(8);
  facts.last_level_cache = mib(32);
  facts.processors = 8;
  return facts;
}

work plan(std::map<std::string, std::string> const& given, device_facts const& facts = h200()) {
  auto const& p = find_probe("gather");
  return p.plan(complete(p.parameters, given), facts);
}

TEST(indirect_plan, counts_the_payload_and_reports_the_index_bytes_beside_it) {
  auto const w = plan({});
  EXPECT_EQ(w.bytes_per_pass, gib(4).count);
  EXPECT_EQ(w.traffic_per_pass, gib(5).count);
  EXPECT_EQ(w.buffers.at("in").count, gib(2).count);
  EXPECT_EQ(w.buffers.at("out").count, gib(2).count);
  EXPECT_EQ(w.buffers.at("index").count, gib(1).count);
  EXPECT_EQ(w.buffers.at("scratch").count, mib(120).count);
  EXPECT_THAT(w.notes, IsEmpty());
  EXPECT_EQ(plan({{"index", "64"}}).traffic_per_pass, gib(6).count);
  EXPECT_EQ(plan({{"dtype", "f32"}}).bytes_per_pass, gib(2).count);
}

TEST(indirect_plan, takes_any_number_of_elements_that_fits) {
  for (auto const elements : {(one << 31) - 1, one << 31, (one << 31) + 1, one << 32}) {
    auto const w = plan({{"elements", std::to_string(elements)}});
    EXPECT_EQ(w.bytes_per_pass, 16 * elements);
    EXPECT_EQ(w.buffers.at("index").count, 4 * elements);
  }
  auto larger = h200();
  larger.memory_free = gib(288);
  EXPECT_EQ(plan({{"elements", "8589934592"}, {"index", "64"}}, larger).bytes_per_pass, one << 37);
  EXPECT_THAT(
      [] {
        plan({{"elements", "8589934592"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("add index=64")));
  EXPECT_THAT(
      [] {
        plan({{"elements", "8589934592"}, {"index", "64"}});
      },
      ThrowsMessage<measurement_error>(HasSubstr("choose fewer elements")));
}

TEST(indirect_plan, refuses_vectors_that_measure_the_cache) {
  EXPECT_EQ(plan({{"elements", "31457280"}, {"span", "1"}}).bytes_per_pass, mib(480).count);
  EXPECT_THAT(
      [] {
        plan({{"elements", "31457279"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("would measure the cache")));
}

TEST(indirect_plan, refuses_a_span_above_the_elements) {
  EXPECT_THAT(
      [] {
        plan({{"elements", "100000000"}, {"span", "100000001"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("span=100000001 is above the 100000000 elements")));
  EXPECT_THAT(
      [] {
        plan({{"span", "268435457"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("choose a shorter one")));
}

TEST(indirect_plan, cuts_the_default_to_the_free_memory_and_says_so) {
  auto facts = h200();
  facts.memory_free = gib(5);
  auto const w = plan({}, facts);
  EXPECT_EQ(w.bytes_per_pass, 198 * 16 * (one << 20));  // (4 GiB - 120 MiB) / 20 = 198.8 M
  EXPECT_THAT(w.notes, ElementsAre(HasSubstr("elements cut to 207618048")));
  facts.memory_free = mib(800);
  EXPECT_THAT([&] { plan({}, facts); },
              ThrowsMessage<measurement_error>(HasSubstr("find who holds the memory")));
}

TEST(indirect_plan, is_smaller_on_the_host) {
  EXPECT_EQ(plan({}, laptop()).buffers.at("in").count, mib(256).count);
  EXPECT_EQ(plan({{"dtype", "f32"}}, laptop()).buffers.at("in").count, mib(256).count);
  auto server = laptop();
  server.last_level_cache = mib(100);
  EXPECT_EQ(plan({}, server).buffers.at("in").count, mib(400).count);
}

TEST(indirect_probes, declare_what_gates_need) {
  for (auto const* name : {"gather", "scatter"}) {
    auto const& p = find_probe(name);
    EXPECT_EQ(p.ceiling, ceiling::dram);
    EXPECT_EQ(p.expected_spread, 0.12);
    EXPECT_EQ(p.compared_with, "copy");
    std::vector<std::string> spans;
    for (auto const& member : p.suites) {
      EXPECT_EQ(member.suite, "full");
      spans.push_back(describe(p.parameters, complete(p.parameters, member.parameters)));
    }
    EXPECT_THAT(spans, ElementsAre("span=1024", "span=16777216", ""));
    EXPECT_EQ(p.more_time_s(complete(p.parameters, {})), 0U);
    EXPECT_EQ(p.more_time_s(complete(p.parameters, {{"elements", "4294967296"}})), 128U);
  }
}

}  // namespace
}  // namespace bandgate::testing
