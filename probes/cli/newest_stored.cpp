// SPDX-License-Identifier: Apache-2.0
#include "cli/newest_stored.hpp"

#include <map>

#include <nlohmann/json.hpp>

#include "records/stored_results.hpp"

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

/// Which results need not be looked at any closer, because a newer one of their kind was. Fed with
/// the newest first, it spares reading a week of results of which the last few count.
class superseded {
 public:
  /// Whether a newer result of the same node, device, probe and parameters was accepted, of another
  /// invocation. What does not look like a result is not superseded: its reader says what is wrong.
  bool by_newer(json const& document);

  /// The document asked about last was a valid result that counts.
  void accept() { newest_.insert_or_assign(key_, seen_); }

 private:
  struct last_seen {
    std::string group, started;
  };
  std::map<std::string, last_seen> newest_;
  std::string key_;
  last_seen seen_;
};

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

}  // namespace

std::vector<checked> newest_stored(std::filesystem::path const& folder,
                                   std::chrono::system_clock::time_point since,
                                   std::string const& node,
                                   std::function<bool(result const&)> const& keep,
                                   std::function<void(std::string const&)> const& broken) {
  newest_results newest;
  superseded older;
  read_stored(
      folder,
      {.first_day = std::chrono::floor<std::chrono::days>(since),
       .mentions = {node},
       .wanted = [&](json const& document) { return !older.by_newer(document); }},
      [&](result&& r) {
        bool const here = (r.run.node.empty() ? r.run.host : r.run.node) == node;
        if (!here || !keep(r)) return;
        newest.add(std::move(r));
        older.accept();
      },
      broken);
  return newest.take();
}

}  // namespace bandgate::cli
