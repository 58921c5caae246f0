// What the JSON reader takes, what it refuses, and that it writes what it can read. Status 1 and a line for each failure.
#include <cstdio>
#include <string>
#include <string_view>

#include <taskscale/probe.hpp>

using taskscale::JsonReader;
using namespace std::literals;

static int failures = 0;

static std::string read(std::string_view text) {
  try {
    return JsonReader::read(text).text();
  } catch (const taskscale::Refused& refused) {
    return "refused: "s + refused.what();
  }
}

static void expect(std::string_view text, std::string_view wanted) {
  const std::string got = read(text);
  if (got == wanted) return;
  std::printf("%.*s gives %s, not %.*s\n", static_cast<int>(text.size()), text.data(), got.c_str(), static_cast<int>(wanted.size()), wanted.data());
  ++failures;
}

static void expect_refused(std::string_view text) {
  const std::string got = read(text);
  if (got.starts_with("refused: the line is not JSON: ")) return;
  std::printf("%.*s is taken for %s\n", static_cast<int>(text.size()), text.data(), got.c_str());
  ++failures;
}

int main() {
  expect(" { \"a\" : [ 1 , true , null , false , { } , [ ] ] } \r\n", R"({"a":[1,true,null,false,{},[]]})");
  expect("18446744073709551615", "18446744073709551615");
  // No integers from 0 to 2^64 - 1: kept as they were written.
  for (const std::string_view number : {"18446744073709551616", "-1", "-0", "1.0", "1e0", "2.5E+10", "0e-7"}) {
    expect(number, number);
    if (JsonReader::read(number).integer() != nullptr) std::printf("%s is taken for an integer\n", std::string(number).c_str()), ++failures;
  }
  expect(R"("\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00")", "\"\\\"\\\\/\\u0008\\u000c\\u000a\\u000d\\u0009é€😀\"");
  expect(R"("\u0000")", R"("\u0000")");
  for (const std::string_view text :
       {""sv, " "sv, "hello"sv, "{"sv, "["sv, "[1,]"sv, "{\"a\":1,}"sv, "{\"a\" 1}"sv, "{a:1}"sv, "{'a':1}"sv, "[1 2]"sv, "{} {}"sv, "tru"sv,
        "01"sv, "-"sv, "+1"sv, ".5"sv, "1."sv, "1e"sv, "1e+"sv, "0x1"sv, "NaN"sv, "\""sv, "\"\t\""sv, "\"\\x\""sv, "\"\\u12g4\""sv, "\"\\u+123\""sv,
        "\"\\u12"sv, "\"\\ud800\""sv, "\"\\ud800\\u0041\""sv, "\"\\udc00\""sv, "\0"sv, "1\0"sv, "\"a\0\""sv, "\xEF\xBB\xBF{}"sv,
        // Not UTF-8: a stray byte, cut short, overlong, a surrogate, above U+10FFFF.
        "\"\xFF\""sv, "\"\x80\""sv, "\"\xE2\x82\""sv, "\"\xC0\x80\""sv, "\"\xE0\x80\x80\""sv, "\"\xED\xA0\x80\""sv, "\"\xF4\x90\x80\x80\""sv, "\"\xF5\""sv}) {
    expect_refused(text);
  }
  expect(std::string(64, '[') + std::string(64, ']'), std::string(64, '[') + std::string(64, ']'));
  expect_refused(std::string(66, '[') + std::string(66, ']'));
  expect_refused(std::string(1 << 20, '['));
  // Words of a foreign exception may be anything; a reply is JSON all the same.
  expect(taskscale::Json("\xFF\"\n").text(), R"("?\"\u000a")");
  // Of equal names the last counts.
  const taskscale::Json twice = JsonReader::read(R"({"a":1,"a":2})");
  if (twice.find("a") == nullptr || twice.find("a")->text() != "2") std::puts("of equal names the last must count"), ++failures;
  return failures == 0 ? 0 : 1;
}
