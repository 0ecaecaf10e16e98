// SPDX-License-Identifier: Apache-2.0
// docs/causes.md and the table of rules speak of the same codes, with the same weights.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "gate/causes.hpp"

namespace bandgate {
namespace {

/// "### `code`" and the line "Doctor: weight" below it; "never" is for what is not seen at rest.
std::map<std::string, std::string> documented() {
  std::ifstream file(BANDGATE_ROOT "/docs/causes.md");
  std::map<std::string, std::string> all;
  std::regex const heading("### `([^`]+)`"), weight("Doctor: ([a-z-]+)\\b.*");
  std::string code;
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (std::regex_match(line, found, heading)) {
      code = found[1];
      EXPECT_TRUE(all.emplace(code, "").second) << code << " twice";
    } else if (std::regex_match(line, found, weight)) {
      all[code] = found[1];
    }
  }
  return all;
}

TEST(cause_document, explains_every_code_and_no_other) {
  std::map<std::string, std::string> table;
  for (auto const& rule : cause_rules()) table[rule.code] = to_string(rule.at_rest);
  auto document = documented();
  device_identity const device;
  health const nothing_read;
  for (auto const& rule : cause_rules()) {
    auto& weight = document[rule.code];
    if (weight != "never") continue;
    EXPECT_EQ(rule.look({device, nothing_read}).is, finding::state::irrelevant) << rule.code;
    weight = table[rule.code];
  }
  EXPECT_EQ(document, table);
}

}  // namespace
}  // namespace bandgate
