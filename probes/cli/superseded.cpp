// SPDX-License-Identifier: Apache-2.0
#include "cli/superseded.hpp"

#include <nlohmann/json.hpp>

namespace bandgate::cli {
namespace {

using nlohmann::json;

constexpr char const* run_host = "/run/host";
constexpr char const* names[] = {"/run/node",           "/device/backend", "/device/uuid",
                                 "/device/pci_address", "/probe/name",     "/probe/parameters"};

std::string text_at(json const& document, char const* pointer) {
  json::json_pointer const place(pointer);
  return document.contains(place) ? document.at(place).dump() : "";
}

}  // namespace

bool superseded::by_newer(json const& document) {
  key_ = text_at(document, run_host);
  for (auto const* pointer : names) key_ += text_at(document, pointer);
  seen_ = {text_at(document, "/run/group_id"), text_at(document, "/run/started")};
  // What a machine missed counts for each of the invocations that ran at once.
  bool const of_no_device = text_at(document, "/device/uuid") == "\"\"" &&
                            text_at(document, "/device/pci_address") == "\"\"";
  if (of_no_device && text_at(document, "/failure") != "null") return false;
  auto const newer = newest_.find(key_);
  // Times in UTC sort as text; others are compared by whoever reads them.
  auto const is_utc = [](std::string const& time) { return time.ends_with("Z\""); };
  return newer != newest_.end() && newer->second.group != seen_.group && is_utc(seen_.started) &&
         is_utc(newer->second.started) && seen_.started < newer->second.started;
}

void superseded::accept() {
  newest_.insert_or_assign(key_, seen_);
}

}  // namespace bandgate::cli
