// SPDX-License-Identifier: Apache-2.0
#include "runner/request.hpp"

#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

namespace bandgate {
namespace {

char const* word_for(worker_request::kind what) {
  switch (what) {
    case worker_request::kind::devices:
      return "devices";
    case worker_request::kind::inspect:
      return "inspect";
    case worker_request::kind::measure:
      return "measure";
  }
  return "?";
}

worker_request::kind kind_of(std::string const& word) {
  for (auto const kind : {worker_request::kind::devices, worker_request::kind::inspect})
    if (word == word_for(kind)) return kind;
  return worker_request::kind::measure;
}

}  // namespace

std::string to_text(worker_request const& request) {
  return nlohmann::ordered_json{
      {"what", word_for(request.what)},
      {"backend", request.backend},
      {"selector", request.selector},
      {"probe", request.probe},
      {"parameters", request.parameters},
      {"attempt", request.attempt},
      {"management", request.management},
      {"visible",
       request.visible ? nlohmann::ordered_json(*request.visible) : nlohmann::ordered_json()},
      {"wait_idle_ms", request.wait_idle.count()},
      {"allow_contention", request.allow_contention},
      {"relative_to", request.relative_to}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

worker_request request_from_text(std::string const& text) {
  try {
    auto const document = nlohmann::json::parse(text);
    worker_request request;
    request.what = kind_of(document.at("what"));
    request.backend = document.at("backend");
    request.selector = document.at("selector");
    request.probe = document.at("probe");
    request.parameters = document.at("parameters");
    request.attempt = document.at("attempt");
    request.management = document.at("management");
    if (auto const& visible = document.at("visible"); !visible.is_null())
      request.visible = visible.get<std::string>();
    request.wait_idle = std::chrono::milliseconds(
        document.at("wait_idle_ms").get<std::chrono::milliseconds::rep>());
    request.allow_contention = document.at("allow_contention");
    request.relative_to = document.at("relative_to");
    return request;
  } catch (nlohmann::json::exception const& e) {
    throw usage_error(std::string("a worker was started with an unreadable request: ") + e.what() +
                      "; workers are started by `bandgate check`, not by hand");
  }
}

}  // namespace bandgate
