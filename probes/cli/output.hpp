// SPDX-License-Identifier: Apache-2.0
/// Printing that never throws: a closed or full stream must not end a measurement or change a
/// verdict. `program` asks at the end whether standard output took everything.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace bandgate::cli {

template <class... Arguments>
void out(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  std::fputs(fmt::format(text, std::forward<Arguments>(arguments)...).c_str(), stdout);
}

template <class... Arguments>
void err(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  std::fputs(fmt::format(text, std::forward<Arguments>(arguments)...).c_str(), stderr);
}

}  // namespace bandgate::cli
