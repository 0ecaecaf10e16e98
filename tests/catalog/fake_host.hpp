// SPDX-License-Identifier: Apache-2.0
/// A host of three threads, one after the other, with plain loops.
#pragma once

#include <bandgate/backend.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace bandgate::testing {

inline constexpr host_loops plain_loops{
    "plain",
    [](void const* from, std::uint64_t size) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < size / 8; ++i)
        sum += static_cast<std::uint64_t const*>(from)[i];
      return sum;
    },
    [](void const* from, std::uint64_t size) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < size / 4; ++i)
        sum += static_cast<std::uint32_t const*>(from)[i];
      return sum;
    },
    [](void const* from, std::uint64_t size) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < size / 4; ++i)
        sum += static_cast<std::uint32_t const*>(from)[i];
      return sum;
    },
    [](void* to, std::uint64_t size, std::uint64_t word) {
      for (std::uint64_t i = 0; i < size / 8; ++i) static_cast<std::uint64_t*>(to)[i] = word;
    },
    [](void* to, void const* from, std::uint64_t size) { std::memcpy(to, from, size); },
    [](double* a, double const* b, double const* c, std::uint64_t size, double factor) {
      for (std::uint64_t i = 0; i < size / sizeof *a; ++i) a[i] = b[i] + factor * c[i];
    }};

class fake_host final : public host_context {
 public:
  fake_host() {
    facts_.memory_total = mib(64);
    facts_.memory_free = mib(32);
    facts_.last_level_cache = kib(64);
    facts_.processors = 3;
  }
  device_facts const& facts() const override { return facts_; }
  std::uint64_t seed() const override { return 0x0123456789abcdefULL; }
  unsigned threads() const override { return 3; }
  buffer allocate(bytes size, char const*) override {
    auto* const data =
        static_cast<unsigned char*>(std::aligned_alloc(64, (size.count + 63) / 64 * 64));
    std::memset(data, 0xee, size.count);
    (first_ == nullptr ? first_ : last_) = data;
    return {data, size, [](void* p) { std::free(p); }};
  }
  void parallel(std::function<void(unsigned)> const& body) override {
    for (unsigned thread = 0; thread < threads(); ++thread) body(thread);
  }
  host_loops const& loops() const override { return loops_; }

  host_loops& loops() { return loops_; }
  unsigned char* first_buffer() const { return first_; }
  unsigned char* last_buffer() const { return last_ != nullptr ? last_ : first_; }

 private:
  device_facts facts_;
  host_loops loops_{plain_loops};
  unsigned char* first_{};
  unsigned char* last_{};
};

}  // namespace bandgate::testing
