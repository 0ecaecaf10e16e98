// SPDX-License-Identifier: Apache-2.0
/// Foreign text made fit for our documents and messages.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace bandgate {

/// `text` with each ill-formed byte sequence replaced by U+FFFD: what any JSON reader accepts.
std::string valid_utf8(std::string_view text);

/// One line for a message: valid UTF-8, control characters as "?", cut after some 200 bytes.
std::string printable(std::string_view text);

/// A JSON value as a message quotes it: as JSON in ASCII, cut after some 60 characters; an array or
/// an object by its kind only.
std::string shortened(nlohmann::json const& value);

}  // namespace bandgate
