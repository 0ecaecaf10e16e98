// SPDX-License-Identifier: Apache-2.0
#include "records/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "records/text.hpp"

namespace bandgate {
namespace {

using nlohmann::json;

/// Far above any document of ours, far below what a recursive reader survives.
constexpr std::size_t deepest = 64;

[[noreturn]] void refuse_at(std::string const& text, std::size_t offset, std::string const& origin,
                            std::string const& why) {
  auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  auto const line = 1 + std::count(text.begin(), end, '\n');
  auto const start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  // Columns count characters: the continuation bytes of UTF-8 are none.
  auto const column = 1 + std::count_if(start, end, [](char c) { return (c & 0xC0) != 0x80; });
  throw usage_error(fmt::format("{}: line {}, column {}: {}", origin, line, column, why));
}

/// Walks over the text and tells how far the parser has come, which its events do not.
class tracking_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = char const*;
  using reference = char const&;

  tracking_iterator(char const* at, char const** reached) : at_(at), reached_(reached) {}
  reference operator*() const {
    *reached_ = at_;
    return *at_;
  }
  tracking_iterator& operator++() {
    ++at_;
    return *this;
  }
  tracking_iterator operator++(int) {
    auto const before = *this;
    ++at_;
    return before;
  }
  bool operator==(tracking_iterator const& other) const { return at_ == other.at_; }

 private:
  char const* at_;
  char const** reached_;
};

/// Builds the document and refuses what the library's own reader lets through.
class strict_builder : public nlohmann::json_sax<json> {
 public:
  strict_builder(std::string const& text, std::string const& origin)
      : text_(text), origin_(origin), reached_(text.data()) {}

  json read() {
    char const* const begin = text_.data();
    json::sax_parse(tracking_iterator(begin, &reached_),
                    tracking_iterator(begin + text_.size(), &reached_), this);
    return std::move(root_);
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, string_t const&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (stack_.back()->contains(name))
      refuse_at(text_, start_of_string(), origin_,
                fmt::format("the key {} is there twice; keep one", shortened(json(name))));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, std::string const&,
                   json::exception const& problem) override {
    auto const at = position == 0 ? 0 : position - 1;
    refuse_at(text_, at, origin_,
              is_non_number(at) ? "JSON has no NaN and no Infinity; write a number or null"
                                : in_plain_words(problem.what()));
  }

 private:
  template <class T>
  bool add(T&& value) {
    place(json(std::forward<T>(value)));
    return true;
  }
  json* place(json value) {
    if (stack_.empty()) return &(root_ = std::move(value));
    if (stack_.back()->is_array()) return &stack_.back()->emplace_back(std::move(value));
    return &((*stack_.back())[key_] = std::move(value));
  }
  bool open(json empty) {
    if (stack_.size() == deepest)
      refuse_at(text_, offset(), origin_, fmt::format("is nested deeper than {} levels", deepest));
    stack_.push_back(place(std::move(empty)));
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }

  std::size_t offset() const { return static_cast<std::size_t>(reached_ - text_.data()); }
  /// Of the string whose closing quote was read last.
  std::size_t start_of_string() const {
    std::size_t at = offset();
    while (at > 0) {
      at = text_.rfind('"', at - 1);
      std::size_t slashes = 0;
      while (slashes < at && text_[at - slashes - 1] == '\\') ++slashes;
      if (slashes % 2 == 0) return at;
    }
    return 0;
  }

  /// Whether the word around that offset is one of the spellings that C, Python or numpy print.
  bool is_non_number(std::size_t at) const {
    auto const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    auto const before = at == 0 ? std::string::npos : text_.find_last_not_of(letters, at - 1);
    auto const from = before == std::string::npos ? 0 : before + 1;
    auto word = text_.substr(from, text_.find_first_not_of(letters, from) - from);
    for (auto& c : word) c = static_cast<char>(c | 0x20);
    return word == "nan" || word == "inf" || word == "infinity";
  }

  /// Without "[json.exception.parse_error.101] parse error at line 1, column 5: ".
  static std::string in_plain_words(std::string text) {
    if (auto const at = text.find("] "); at != std::string::npos) text.erase(0, at + 2);
    if (auto const at = text.find(": "); text.starts_with("parse error") && at != std::string::npos)
      text.erase(0, at + 2);
    return printable(text);
  }

  std::string const& text_;
  std::string const& origin_;
  char const* reached_;
  json root_;
  std::vector<json*> stack_;
  std::string key_;
};

}  // namespace

json parse_strict(std::string const& text, std::string const& origin) {
  if (text.empty()) throw usage_error(origin + ": is empty; it must hold a JSON document");
  if (text.starts_with("\xEF\xBB\xBF"))
    refuse_at(text, 0, origin, "starts with a byte order mark; save it as UTF-8 without one");
  // The parser takes a NUL for the end of its input and would not see what follows.
  if (auto const nul = text.find('\0'); nul != std::string::npos)
    refuse_at(text, nul, origin, "holds a NUL byte; it is not JSON text");
  return strict_builder(text, origin).read();
}

}  // namespace bandgate
