// SPDX-License-Identifier: Apache-2.0
#include <bandgate/errors.hpp>

#include <array>
#include <utility>

namespace bandgate {
namespace {

constexpr std::array<std::pair<failure, char const*>, 12> spellings{{
    {failure::wrong_result, "wrong-result"},
    {failure::above_ceiling, "above-ceiling"},
    {failure::zero_elapsed, "zero-elapsed"},
    {failure::not_proportional, "not-proportional"},
    {failure::device_lost, "device-lost"},
    {failure::device_missing, "device-missing"},
    {failure::device_failed, "device-failed"},
    {failure::exclusively_held, "exclusively-held"},
    {failure::contended, "contended"},
    {failure::out_of_memory, "out-of-memory"},
    {failure::timed_out, "timed-out"},
    {failure::crashed, "crashed"},
}};

}  // namespace

char const* to_string(failure f) {
  for (auto const& [value, text] : spellings)
    if (value == f) return text;
  return "?";
}

failure failure_from(std::string const& text) {
  for (auto const& [value, spelling] : spellings)
    if (text == spelling) return value;
  return failure::device_failed;
}

}  // namespace bandgate
