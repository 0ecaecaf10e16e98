// SPDX-License-Identifier: Apache-2.0
#include "device/nvml_fields.hpp"

#include <algorithm>

namespace bandgate {
namespace {

double number(nvml_abi::field_value const& got) {
  switch (got.type) {
    case nvml_abi::type_double:
      return got.value.as_double;
    case nvml_abi::type_unsigned:
      return got.value.as_unsigned;
    case nvml_abi::type_unsigned_long:
      return static_cast<double>(got.value.as_unsigned_long);
    case nvml_abi::type_unsigned_long_long:
      return static_cast<double>(got.value.as_unsigned_long_long);
    case nvml_abi::type_long_long:
      return static_cast<double>(got.value.as_long_long);
    case nvml_abi::type_int:
      return got.value.as_int;
    case nvml_abi::type_unsigned_short:
      return got.value.as_unsigned_short;
  }
  return 0;
}

bool of_known_type(nvml_abi::field_value const& got) {
  return got.type >= nvml_abi::type_double && got.type <= nvml_abi::type_unsigned_short;
}

/// As many as NVML's documentation never limits; some drivers copy into a fixed array.
constexpr std::size_t most_at_once = 64;

}  // namespace

std::vector<field_answer> ask_fields(nvml_symbols const& symbols, nvml_abi::device card,
                                     std::vector<field_question> const& questions) {
  std::vector<field_answer> answers;
  for (std::size_t begin = 0; begin < questions.size(); begin += most_at_once) {
    auto const size = std::min(most_at_once, questions.size() - begin);
    std::vector<nvml_abi::field_value> values(size);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = {};
      values[i].field = questions[begin + i].field;
      values[i].scope = questions[begin + i].scope;
      values[i].result = nvml_abi::no_data;  // for a driver that skips a field
    }
    auto code = nvml_abi::function_not_found;
    if (symbols.fields.call != nullptr)
      code = symbols.fields.call(card, static_cast<int>(size), values.data());
    for (std::size_t i = 0; i < size; ++i) {
      field_answer got;
      got.from = questions[begin + i].name;
      got.code = code == nvml_abi::success ? values[i].result : code;
      if (code == nvml_abi::function_not_found) got.from = symbols.fields.name;
      if (got && !of_known_type(values[i])) got.code = nvml_abi::no_data;
      if (got) got.value = number(values[i]);
      got.type = values[i].type;
      answers.push_back(got);
    }
  }
  return answers;
}

}  // namespace bandgate
