// SPDX-License-Identifier: Apache-2.0
/// What gather and scatter declare alike: parameters and the sizing of their work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <bandgate/probe.hpp>

namespace bandgate {

/// Bytes of an element and of an index.
struct indirect_types {
  std::uint64_t word;
  std::uint64_t index;
};
inline indirect_types types_of(parameters const& values) {
  return {std::get<std::string>(values.at("dtype")) == "f64" ? 8U : 4U,
          std::get<std::string>(values.at("index")) == "64" ? 8U : 4U};
}

inline std::uint64_t number_or(parameter_value const& value, std::uint64_t otherwise) {
  auto const* number = std::get_if<std::uint64_t>(&value);
  return number != nullptr ? *number : otherwise;
}

inline parameter count_or_word(char const* name, char const* word, char const* help) {
  parameter p;
  p.name = name;
  p.kind = parameter_kind::count;
  p.fallback = std::string(word);
  p.choices = {word};
  p.help = help;
  p.most = std::uint64_t{1} << 40;  // what numbered_data can tell apart
  return p;
}

inline parameter choice(char const* name, std::vector<std::string> choices, char const* help) {
  parameter p;
  p.name = name;
  p.kind = parameter_kind::choice;
  p.fallback = choices.front();
  p.choices = std::move(choices);
  p.help = help;
  return p;
}

inline std::vector<parameter> indirect_parameters() {
  return {
      count_or_word("elements", "auto",
                    "elements of each of the two vectors; auto: 2^28 on a GPU, 256 MiB of them "
                    "on the host, more where the last-level cache is larger than a quarter"),
      count_or_word("span", "all", "how far indices are random: in elements, at most all of them"),
      choice("mode", {"permutation", "sliding"},
             "permutation: each element once, permuted inside blocks of the span; sliding: "
             "i - span/2 + a random number below the span, wrapped, so elements repeat"),
      choice("index", {"32", "64"}, "bits of an index"),
      choice("dtype", {"f64", "f32"}, "element type")};
}

/// Twice the cache, so that a read of it leaves nothing else in there.
inline bytes indirect_scratch(device_facts const& facts) {
  auto const cache = facts.last_level_cache.count;
  auto const size = cache != 0 ? 2 * cache : mib(256).count;
  return {(size + 4095) / 4096 * 4096};
}

/// How many elements the memory can hold, and how many make a probe of memory.
struct element_limits {
  std::uint64_t most;
  std::uint64_t least;
};
inline element_limits limits_of(indirect_types types, device_facts const& facts) {
  auto const room = facts.memory_free.count / 5 * 4;
  auto const scratch = indirect_scratch(facts).count;
  auto const each = 2 * types.word + types.index;
  return {room > scratch ? (room - scratch) / each : 0,
          std::max<std::uint64_t>(1, 4 * facts.last_level_cache.count / types.word)};
}

inline std::string memory_needed(std::uint64_t elements, element_limits const& limits) {
  return std::to_string(elements) +
         " elements, two vectors of them and a table, do not fit into 80 % of the free memory, "
         "which holds " +
         std::to_string(limits.most);
}

inline std::uint64_t default_elements(indirect_types types, device_facts const& facts,
                                      element_limits const& limits,
                                      std::vector<std::string>& notes) {
  constexpr std::uint64_t granule = 1U << 20;
  auto const wanted = std::max(facts.is_gpu ? std::uint64_t{1} << 28 : mib(256).count / types.word,
                               (limits.least + granule - 1) / granule * granule);
  if (wanted <= limits.most) return wanted;
  auto const cut = limits.most / granule * granule;
  if (cut < limits.least || cut == 0)
    throw measurement_error(failure::out_of_memory,
                            memory_needed(wanted, limits) + ", and a probe of memory needs " +
                                std::to_string(limits.least) + ": find who holds the memory");
  notes.push_back("elements cut to " + std::to_string(cut) + ": " + memory_needed(wanted, limits));
  return cut;
}

inline std::uint64_t element_count(parameters const& values, device_facts const& facts,
                                   std::vector<std::string>& notes) {
  auto const types = types_of(values);
  auto const limits = limits_of(types, facts);
  auto const* const asked = std::get_if<std::uint64_t>(&values.at("elements"));
  if (asked == nullptr) return default_elements(types, facts, limits, notes);
  if (types.index == 4 && *asked > std::uint64_t{1} << 32)
    throw usage_error("parameter elements=" + std::to_string(*asked) +
                      ": indices of 32 bits reach 2^32 elements; add index=64");
  if (*asked < limits.least)
    throw usage_error("parameter elements=" + std::to_string(*asked) +
                      ": would measure the cache; a vector needs at least 4 x the last-level "
                      "cache, " +
                      std::to_string(limits.least) + " elements");
  if (*asked > limits.most)
    throw measurement_error(failure::out_of_memory,
                            memory_needed(*asked, limits) + "; choose fewer elements");
  return *asked;
}

inline void check_span(parameters const& values, std::uint64_t elements) {
  auto const span = number_or(values.at("span"), elements);
  if (span <= elements) return;
  auto const text =
      "span=" + std::to_string(span) + " is above the " + std::to_string(elements) + " elements";
  bool const by_itself = std::holds_alternative<std::string>(values.at("elements"));
  throw usage_error("parameter " + text +
                    (by_itself ? " that this device measures with by itself; choose a shorter one, "
                                 "or more elements where memory allows"
                               : "; leave it out for all of them"));
}

/// Two vectors, a table, and a scratch to reset the caches by; 80 % of free memory at most. "auto"
/// elements are fewer, with a note, where memory is short. Throws usage_error for vectors that
/// would measure the cache, too narrow an index or a span above the elements; measurement_error
/// (out_of_memory).
inline work indirect_work(parameters const& values, device_facts const& facts) {
  work w;
  auto const types = types_of(values);
  auto const elements = element_count(values, facts, w.notes);
  check_span(values, elements);
  w.bytes_per_pass = elements * 2 * types.word;
  w.traffic_per_pass = w.bytes_per_pass + elements * types.index;
  w.buffers = {{"in", {elements * types.word}},
               {"out", {elements * types.word}},
               {"index", {elements * types.index}},
               {"scratch", indirect_scratch(facts)}};
  return w;
}

/// All that the two declare alike: what is left are name, summary, shapes and kernels.
inline probe indirect_probe() {
  probe p;
  p.byte_rule = "elements read + elements written";
  p.parameters = indirect_parameters();
  p.expected_spread = 0.12;  // where address translation rules
  p.compared_with = "copy";
  // In the cache, beyond it, and everywhere.
  p.suites = {{"full", {{"span", "1024"}}}, {"full", {{"span", "16777216"}}}, {"full"}};
  p.time_limit_s = 240;  // two cores of a CPU with a large cache
  p.more_time_s = [](parameters const& values) {
    return static_cast<unsigned>(number_or(values.at("elements"), 0) >> 25);
  };
  p.plan = indirect_work;
  return p;
}

}  // namespace bandgate
