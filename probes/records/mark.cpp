// SPDX-License-Identifier: Apache-2.0
#include "records/mark.hpp"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "records/result_json.hpp"
#include "records/result_store.hpp"
#include "records/schema.hpp"
#include "records/text.hpp"

namespace bandgate {
namespace {

constexpr std::uintmax_t largest_mark = 16ULL << 20;

}  // namespace

void write_mark(mark const& what, std::filesystem::path const& file) {
  nlohmann::ordered_json document{{"schema", "bandgate.mark/1"},
                                  {"at", what.at},
                                  {"host", valid_utf8(what.host)},
                                  {"boot_id", valid_utf8(what.boot_id)},
                                  {"uptime_s", what.uptime_s},
                                  {"backend", valid_utf8(what.backend)},
                                  {"devices", nlohmann::ordered_json::array()}};
  for (auto const& d : what.devices)
    document["devices"].push_back(
        {{"device", device_to_json(d.identity)}, {"health", health_to_json(d.health)}});
  write_atomically(file, document.dump(2) + "\n");
}

mark read_mark(std::filesystem::path const& file) {
  auto const origin = file.string();
  auto const document = parse_strict(read_text(file, largest_mark), origin);
  validate(document, "mark", origin);
  mark m;
  m.at = document.at("at");
  m.host = document.at("host");
  m.boot_id = document.at("boot_id");
  m.uptime_s = document.at("uptime_s");
  m.backend = document.at("backend");
  for (auto const& entry : document.at("devices"))
    m.devices.push_back({device_from_json(entry.at("device"), origin),
                         health_from_json(entry.at("health"), origin)});
  return m;
}

}  // namespace bandgate
