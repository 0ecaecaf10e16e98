// SPDX-License-Identifier: Apache-2.0
#include "records/schema.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <bandgate/errors.hpp>

#include "records/text.hpp"
#include "records/violation.hpp"

namespace bandgate {
namespace {

using nlohmann::json;
using adapter = valijson::adapters::NlohmannJsonAdapter;

struct compiled_schema {
  explicit compiled_schema(json text) : document(std::move(text)) {
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(adapter(document), schema);
  }
  json document;
  valijson::Schema schema;
};

/// Compiled on first use and kept: every result that is written or read passes through here.
compiled_schema const& compiled(std::string_view name) {
  static std::mutex guard;
  static std::map<std::string, std::unique_ptr<compiled_schema>, std::less<>> known;
  std::scoped_lock const lock(guard);
  if (auto const found = known.find(name); found != known.end()) return *found->second;
  auto const file = fmt::format("{}.schema.json", name);
  for (auto const& embedded : embedded_schemas()) {
    if (embedded.name != file) continue;
    auto made = std::make_unique<compiled_schema>(
        parse_strict(std::string(embedded.text), "built-in:" + file));
    return *(known[std::string(name)] = std::move(made));
  }
  throw std::logic_error("no schema is built in under the name " + file);
}

/// {"<root>", "[entries]", "[0]"} as {"entries", "0"}.
json_path path_from(std::vector<std::string> const& context) {
  json_path path;
  for (std::size_t i = 1; i < context.size(); ++i)
    path.push_back(context[i].substr(1, context[i].size() - 2));
  return path;
}

}  // namespace

void validate(json const& document, std::string_view schema, std::string const& origin) {
  auto const& wanted = compiled(schema);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  adapter const target(document);
  if (validator.validate(wanted.schema, target, nullptr)) return;

  valijson::ValidationResults errors;  // a second run, since collecting reasons is the slow one
  validator.validate(wanted.schema, target, &errors);
  std::vector<json_path> places{{}};
  for (auto const& error : errors) places.push_back(path_from(error.context));
  auto const found = explain(wanted.document, document, std::move(places));
  auto const place = found.pointer.empty() ? "" : printable(found.pointer) + ": ";
  throw usage_error(fmt::format("{}: {}{}", origin, place, found.reason));
}

}  // namespace bandgate
