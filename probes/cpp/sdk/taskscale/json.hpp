// JSON, as strictly as RFC 8259 has it: what a request line is read into, and what a reply is written from. A line comes
// from outside, so depth is bounded (nothing here can use up the stack), and so is memory: by the length of the line.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace taskscale {

// A request that cannot be done. Its text says what failed, on what, and what to do.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Json;
using Array = std::vector<Json>;
using Object = std::vector<std::pair<std::string, Json>>;  // in the order of the text; of equal names the last counts

// A number that is no integer from 0 to 2^64 - 1, as it was written. The protocol has no use for any.
struct Number {
  std::string text;
};

// A value. `std::get_if<std::uint64_t>(&json.value)` and the like tell its kind.
struct Json {
  std::variant<std::nullptr_t, bool, std::uint64_t, Number, std::string, Array, Object> value;

  Json() = default;
  Json(bool flag) : value(flag) {}
  Json(const char* text) : value(std::string(text)) {}
  Json(std::string text) : value(std::move(text)) {}
  Json(Number number) : value(std::move(number)) {}
  Json(Array array) : value(std::move(array)) {}
  Json(Object object) : value(std::move(object)) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T integer) : value(static_cast<std::uint64_t>(integer)) {}

  const Object* object() const { return std::get_if<Object>(&value); }
  const std::string* word() const { return std::get_if<std::string>(&value); }
  const std::uint64_t* integer() const { return std::get_if<std::uint64_t>(&value); }
  const bool* flag() const { return std::get_if<bool>(&value); }

  // The value of a name; nothing where this is no object or has no such name.
  const Json* find(std::string_view name) const {
    const Json* found = nullptr;
    if (object() == nullptr) return found;
    for (const auto& [key, member] : *object()) {
      if (key == name) found = &member;
    }
    return found;
  }

  // As JSON, on one line.
  std::string text() const;
};

std::string in_quotes(std::string_view text);

// Whether `text` is UTF-8: no stray byte, none too many, no half of a surrogate pair, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
    const unsigned lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0) return false;
    // The second byte's range is narrower after four of the leads: overlong forms, surrogates, the end of Unicode.
    const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    for (std::size_t i = 1; i < length; ++i) {
      if (byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xBF)) return false;
    }
    at += length;
  }
  return true;
}

// Reads one value that is the whole of a text.
class JsonReader {
 public:
  // Throws `Refused`, with the place, where the text is not JSON.
  static Json read(std::string_view text) {
    if (!is_utf8(text)) throw Refused("the line is not JSON: it is not UTF-8");
    JsonReader reader(text);
    Json json = reader.any(0);
    if (reader.next() != '\0' || reader.at_ != text.size()) reader.fail("more after the value");
    return json;
  }

 private:
  // A request of ours has 2 levels; one of a later tool will not have many more.
  static constexpr int kDeepest = 64;

  explicit JsonReader(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(const char* what) const {
    throw Refused("the line is not JSON: " + std::string(what) + " at byte " + std::to_string(at_));
  }

  // The next byte; 0 at the end (a byte 0 of the text is an error wherever it stands).
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // The next byte after space.
  char next() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
    return peek();
  }

  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }

  Json any(int depth) {
    if (depth > kDeepest) fail("nested too deeply");
    switch (next()) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': return string();
      case 't': return literal("true", true);
      case 'f': return literal("false", false);
      case 'n': return literal("null", Json());
      default: return number();
    }
  }

  Json object(int depth) {
    Object members;
    ++at_;
    if (take('}')) return members;
    do {
      if (next() != '"') fail("expected a name");
      std::string name = string();
      if (!take(':')) fail("expected ':'");
      members.emplace_back(std::move(name), any(depth + 1));
    } while (take(','));
    if (!take('}')) fail("expected ',' or '}'");
    return members;
  }

  Json array(int depth) {
    Array items;
    ++at_;
    if (take(']')) return items;
    do items.push_back(any(depth + 1));
    while (take(','));
    if (!take(']')) fail("expected ',' or ']'");
    return items;
  }

  Json literal(std::string_view word, Json meaning) {
    if (text_.substr(at_, word.size()) != word) fail("expected a value");
    at_ += word.size();
    return meaning;
  }

  // `-`, digits without a leading 0, then perhaps a fraction and an exponent.
  Json number() {
    const std::size_t start = at_;
    const auto skip = [&](char sign) { at_ += peek() == sign; };
    const auto digits = [&] {
      const std::size_t first = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      if (at_ == first) fail(first == start ? "expected a value" : "expected a digit");
    };
    skip('-');
    if (peek() == '0') ++at_;
    else digits();
    if (peek() == '.') ++at_, digits();
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    const std::string_view text = text_.substr(start, at_ - start);
    std::uint64_t integer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (error == std::errc() && end == text.data() + text.size()) return integer;
    return Number{std::string(text)};
  }

  std::string string() {
    std::string out;
    ++at_;
    while (peek() != '"') {
      const char c = peek();
      // The end of the text is met here too, as a 0.
      if (static_cast<unsigned char>(c) < 0x20) fail("a text without its end, or with a control character");
      ++at_;
      if (c == '\\') escape(out);
      else out += c;
    }
    ++at_;
    return out;
  }

  void escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kBytes = "\"\\/\b\f\n\r\t";
    const char c = peek();
    ++at_;
    if (const std::size_t which = kNames.find(c); which != kNames.npos) out += kBytes[which];
    else if (c == 'u') utf8(out, code_point());
    else fail("an unknown escape");
  }

  unsigned code_point() {
    const unsigned first = hex4();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || text_.substr(at_, 2) != "\\u") fail("half of a surrogate pair");
    at_ += 2;
    const unsigned second = hex4();
    if (second < 0xDC00 || second > 0xDFFF) fail("half of a surrogate pair");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  unsigned hex4() {
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_ < text_.size() ? at_ : text_.size(), 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || digits.size() < 4 || end != digits.data() + 4) fail("expected four hexadecimal digits");
    at_ += 4;
    return code;
  }

  static void utf8(std::string& out, unsigned code) {
    const auto more = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) out += static_cast<char>(code);
    else if (code < 0x800) out += static_cast<char>(0xC0 | code >> 6), more(0);
    else if (code < 0x10000) out += static_cast<char>(0xE0 | code >> 12), more(6), more(0);
    else out += static_cast<char>(0xF0 | code >> 18), more(12), more(6), more(0);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// A text in quotes. What is not UTF-8 (words of a foreign exception) has '?' for each byte that is not ASCII.
inline std::string in_quotes(std::string_view text) {
  const bool whole = is_utf8(text);
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else out += byte < 0x80 || whole ? c : '?';
  }
  return out += '"';
}

inline std::string Json::text() const {
  const auto listed = [](const auto& all, char open, char close, const auto& one) {
    std::string out(1, open);
    for (const auto& item : all) out += (out.size() > 1 ? "," : "") + one(item);
    return out += close;
  };
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::uint64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<Number>(&value)) return number->text;
  if (const auto* word = std::get_if<std::string>(&value)) return in_quotes(*word);
  if (const auto* array = std::get_if<Array>(&value)) {
    return listed(*array, '[', ']', [](const Json& item) { return item.text(); });
  }
  if (const auto* object = std::get_if<Object>(&value)) {
    return listed(*object, '{', '}', [](const auto& member) { return in_quotes(member.first) + ":" + member.second.text(); });
  }
  return "null";
}

}  // namespace taskscale
