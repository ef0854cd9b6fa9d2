// io/json: what the parser accepts, what it rejects and at which offset, and robustness against arbitrary bytes.
#include "base/json.h"

#include <clocale>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "base/quoted.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

using namespace std::string_literals;

struct BadRow {
  const char* name;
  std::string text;
  const char* message;  // a substring of it
};

void check_refused(const BadRow& row, const JsonLimits& limits = {}) {
  const auto result = parse_json(row.text, limits);
  CHECK_EQ(result.is_ok(), false);
  if (result.is_ok() || result.status.code != StatusCode::bad_file ||
      result.status.message.find(row.message) == std::string::npos) {
    test::fail(__FILE__, __LINE__, std::string(row.name) + ": " + result.status.message);
  }
}

std::string repeated(const std::string& chunk, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += chunk;
  return all;
}

}  // namespace

PAGODA_TEST(json_reads_every_kind_of_value) {
  const auto json = parse_json(
      " {\"null\": null, \"yes\": true, \"no\": false, \"n\": -12, \"x\": 2.5e-1,"
      "\"s\": \"a\\n\\u00e9\\ud83d\\ude00/\\/\","
      "\t\"list\": [1, [], {}],\r\n \"\": {\"deep\": [0]}} \n");
  REQUIRE_OK(json);
  REQUIRE(json->is_object());
  CHECK_EQ(json->members().size(), size_t{8});
  CHECK(json->find("null")->is_null());
  CHECK(json->find("yes")->as_bool());
  CHECK(json->find("no")->is_bool() && !json->find("no")->as_bool());
  CHECK(json->find("n")->is_integer());
  CHECK_EQ(json->find("n")->as_integer(), -12);
  CHECK_EQ(json->find("n")->as_double(), -12.0);
  CHECK(!json->find("x")->is_integer() && json->find("x")->is_number());
  CHECK_EQ(json->find("x")->as_double(), 0.25);
  CHECK_EQ(json->find("s")->as_string(), "a\n\xc3\xa9\xf0\x9f\x98\x80//");
  CHECK_EQ(json->find("list")->items().size(), size_t{3});
  CHECK_EQ(json->find("")->find("deep")->items()[0].as_integer(), 0);
  CHECK(json->find("absent") == nullptr);
  CHECK_EQ(json->members()[6].first, "list");  // in file order
}

PAGODA_TEST(json_gives_neutral_values_for_other_kinds) {
  const Json text = Json::make_string("7");
  CHECK_EQ(text.as_integer(), 0);
  CHECK_EQ(text.as_double(), 0.0);
  CHECK(!text.as_bool() && text.items().empty() && text.members().empty() && text.find("7") == nullptr);
  CHECK_EQ(Json::make_real(1.5).as_integer(), 0);
  CHECK_EQ(Json::make_array({Json(), Json::make_bool(true)}).items()[1].as_bool(), true);
  CHECK_EQ(Json::make_object({{"k", Json::make_integer(3)}}).find("k")->as_integer(), 3);
  CHECK(sizeof(Json) <= 40);
}

PAGODA_TEST(json_keeps_integers_exact_and_makes_larger_ones_real) {
  const auto json = parse_json(
      "[9223372036854775807, -9223372036854775808, 9223372036854775808, "
      "-9223372036854775809, 1e2, 0, -0, 1.0, 123456789012345678901234567890]");
  REQUIRE_OK(json);
  const auto& items = json->items();
  CHECK_EQ(items[0].as_integer(), INT64_MAX);
  CHECK_EQ(items[1].as_integer(), INT64_MIN);
  for (int i : {2, 3, 4, 7, 8}) CHECK(!items[static_cast<size_t>(i)].is_integer());
  CHECK_EQ(items[2].as_double(), 9223372036854775808.0);
  CHECK_EQ(items[3].as_double(), -9223372036854775808.0);
  CHECK_EQ(items[8].as_double(), 123456789012345678901234567890.0);
  CHECK(items[5].is_integer() && items[6].is_integer());
}

PAGODA_TEST(json_reads_doubles_exactly) {
  for (const char* text : {"0.1", "1e-6", "1e-05", "2.2250738585072014e-308", "4.9e-324", "1.7976931348623157e308",
                           "0.1000000000000000055511151231257827", "1e-400", "123456.789E+3"}) {
    const auto json = parse_json(text);
    REQUIRE_OK(json);
    CHECK_EQ(json->as_double(), std::strtod(text, nullptr));
  }
}

PAGODA_TEST(json_refuses_each_bad_text) {
  const BadRow rows[] = {
      {"empty", "", "expected a value at byte 0"},
      {"only whitespace", " \n ", "at byte 3"},
      {"byte order mark", "\xef\xbb\xbf{}", "expected a value at byte 0"},
      {"trailing bytes", "{} x", "bytes after the value at byte 3"},
      {"trailing NUL", "{}\0"s, "bytes after the value at byte 2"},
      {"two values", "1 2", "at byte 2"},
      {"NaN", "[NaN]", "expected a value at byte 1"},
      {"Infinity", "-Infinity", "expected a value"},
      {"nan in lower case", "nan", "expected a value"},
      {"cut literal", "tru", "expected a value at byte 0"},
      {"1e400", "[1, 1e400]", "number outside double at byte 4"},
      {"huge integer", repeated("9", 400), "number outside double"},
      {"leading zero", "01", "leading zero at byte 0"},
      {"plus", "+1", "expected a value"},
      {"bare minus", "-", "expected a value at byte 1"},
      {"no digit after the point", "1.", "decimal point at byte 2"},
      {"no digit before the point", ".5", "expected a value"},
      {"no exponent", "1e+", "exponent at byte 3"},
      {"hexadecimal", "0x10", "bytes after the value at byte 1"},
      {"open string", "\"abc", "string without an end at byte 4"},
      {"string that ends in a backslash", "\"abc\\", "string without an end at byte 5"},
      {"control character", "\"a\nb\"", "control character in a string at byte 2"},
      {"NUL in a string", "\"a\0b\""s, "control character in a string at byte 2"},
      {"control character after eight bytes", "\"12345678\x1f\"", "control character in a string at byte 9"},
      {"unknown escape", "\"\\x41\"", "unknown escape at byte 2"},
      {"short \\u", "\"\\u12\"", "four hexadecimal digits at byte 5"},
      {"\\u with a letter beyond f", "\"\\u12g4\"", "four hexadecimal digits"},
      {"lone high surrogate", "\"\\ud800\"", "lone surrogate at byte 1"},
      {"lone low surrogate", "\"\\udc00\"", "lone surrogate at byte 1"},
      {"two high surrogates", "\"\\ud800\\ud800\"", "lone surrogate at byte 1"},
      {"continuation byte alone", "\"\x80\"", "invalid UTF-8 at byte 1"},
      {"overlong two", "\"\xc0\xaf\"", "invalid UTF-8 at byte 1"},
      {"overlong three", "\"\xe0\x80\x80\"", "invalid UTF-8"},
      {"overlong four", "\"\xf0\x80\x80\x80\"", "invalid UTF-8"},
      {"surrogate in UTF-8", "\"\xed\xa0\x80\"", "invalid UTF-8"},
      {"above U+10FFFF", "\"\xf4\x90\x80\x80\"", "invalid UTF-8"},
      {"cut sequence", "\"\xe2\x82\"", "invalid UTF-8 at byte 1"},
      {"bad third byte", "\"12345678\xe2\x82\x28\"", "invalid UTF-8 at byte 9"},
      {"byte ff", "\"\xff\"", "invalid UTF-8"},
      {"bytes outside strings", "[\xc3\xa9]", "expected a value at byte 1"},
      {"open array", "[1, 2", "expected ',' or ']' at byte 5"},
      {"trailing comma", "[1,]", "expected a value at byte 3"},
      {"missing comma", "[1 2]", "expected ',' or ']' at byte 3"},
      {"wrong bracket", "[1}", "expected ',' or ']'"},
      {"trailing comma in object", "{\"a\":1,}", "expected a string at byte 7"},
      {"key without quotes", "{a:1}", "expected a string at byte 1"},
      {"key without colon", "{\"a\" 1}", "expected ':' at byte 5"},
      {"comment", "/* */ {}", "expected a value at byte 0"},
      {"duplicate key", "{\"a\":1, \"b\":2, \"a\":3}", "duplicate key 'a' at byte 15"},
      {"duplicate key by escape", "{\"a\":1,\"\\u0061\":2}", "duplicate key 'a' at byte 7"},
      {"duplicate key below", "[{\"x\":{\"k\":1,\"k\":1}}]", "duplicate key 'k' at byte 13"},
      {"deep arrays", repeated("[", 10000), "nesting deeper than 128 at byte 128"},
      {"deep objects", repeated("{\"a\":", 10000), "nesting deeper than 128"},
  };
  for (const BadRow& row : rows) check_refused(row);
}

PAGODA_TEST(json_limits_are_inclusive_and_depth_is_capped) {
  const std::string deep128 = repeated("[", 128) + repeated("]", 128);
  CHECK_OK(parse_json(deep128));
  check_refused({"depth 129", "[" + deep128 + "]", "nesting deeper than 128"});
  CHECK_OK(parse_json("[1,2]", {.max_values = 3}));
  check_refused({"four values", "[1,2,3]", "more than 3 values at byte 5"}, {.max_values = 3});
  check_refused({"cap", repeated("[", 5000) + repeated("]", 5000), "nesting deeper than 1024"}, {.max_depth = 1 << 30});
  CHECK_OK(parse_json("{\"a\":1,\"a\":2}", {.reject_duplicate_keys = false}));
}

PAGODA_TEST(json_finds_a_duplicate_among_many_keys) {
  std::string object = "{";
  for (int i = 0; i < 5000; ++i) object += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  CHECK_OK(parse_json(object + "\"last\":0}"));
  for (const char* twice : {"key0", "key7", "key2500", "key4999"}) {
    const std::string text = object + "\"" + twice + "\":0}";
    const std::string where = " at byte " + std::to_string(object.size());
    check_refused({twice, text, where.c_str()});
  }
}

// Keys whose hashes share their low bits fill one run of the hash table: the check must fall back to sorting.
PAGODA_TEST(json_finds_a_duplicate_among_keys_that_collide) {
  std::string object = "{";
  int count = 0;
  for (int i = 0; count < 200; ++i) {
    const std::string key = "k" + std::to_string(i);
    if ((std::hash<std::string_view>{}(key) & 1023) != 5) continue;
    object += "\"" + key + "\":0,";
    ++count;
  }
  CHECK_OK(parse_json(object + "\"last\":0}"));
  const std::string where = " at byte " + std::to_string(object.size());
  check_refused({"colliding", object + object.substr(1, object.find(',') - 1) + "}", where.c_str()});
}

PAGODA_TEST(json_survives_truncation_at_every_byte) {
  const std::string text = "{\"a\": [1, -2.5e3, \"\\u00e9\xc3\xa9\", true, null], \"b\": {\"c\": false}}";
  CHECK_OK(parse_json(text));
  for (size_t n = 0; n < text.size(); ++n) {
    const std::string cut(text.data(), n);
    CHECK(!parse_json(std::string_view(cut.data(), n)).is_ok());
  }
}

PAGODA_TEST(json_strings_of_any_length_and_content_come_back) {
  std::mt19937_64 random(test::seed(11));
  for (int round = 0; round < 2000; ++round) {
    std::string plain, written = "\"";
    const size_t length = random() % 40;
    for (size_t i = 0; i < length; ++i) {
      switch (random() % 8) {
        case 0: plain += "\xe2\x82\xac", written += "\xe2\x82\xac"; break;
        case 1: plain += '"', written += "\\\""; break;
        case 2: plain += '\\', written += "\\\\"; break;
        case 3: plain += '\0', written += "\\u0000"; break;
        case 4: plain += "\x7f", written += "\x7f"; break;
        default: {
          const char c = static_cast<char>('a' + random() % 26);
          plain += c, written += c;
        }
      }
    }
    const auto json = parse_json(written + "\"");
    REQUIRE_OK(json);
    CHECK_EQ(json->as_string(), plain);
  }
}

PAGODA_TEST(json_random_mutations_give_a_value_or_a_status) {
  std::mt19937_64 random(test::seed(12));
  const std::string valid = "{\"k\": [1, 2.5, \"x\\n\", {\"\xc3\xa9\": null}], \"t\": true, \"f\": -1e3}";
  const std::string alphabet = "{}[]\",:\\u0123456789eE+-.truefalsn \x80\xff";
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = valid;
    for (uint64_t n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 3 == 0) text.erase(at, 1);
      else if (random() % 2 == 0) text.insert(at, 1, c);
      else text[at] = c;
    }
    const auto json = parse_json(text);
    accepted += json.is_ok();
    CHECK(json.is_ok() || json.status.message.find("at byte ") != std::string::npos);
  }
  test::note("accepted " + std::to_string(accepted));
  CHECK(accepted > 100 && accepted < 19000);
}

PAGODA_TEST(json_does_not_follow_the_locale) {
  const char* before = std::setlocale(LC_NUMERIC, nullptr);
  const std::string saved = before ? before : "C";
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;
  }
  const auto json = parse_json("2.5");
  std::setlocale(LC_NUMERIC, saved.c_str());
  REQUIRE_OK(json);
  CHECK_EQ(json->as_double(), 2.5);
}

PAGODA_TEST(json_names_in_messages_are_short_and_printable) {
  CHECK_EQ(io::quoted("a\nb\x1b"), "'a?b?'");
  CHECK_EQ(io::quoted(std::string(120, 'x')), "'" + std::string(120, 'x') + "'");
  CHECK_EQ(io::quoted(std::string(500, 'x')), "'" + std::string(120, 'x') + "...'");
  CHECK_EQ(io::quoted(std::string(119, 'x') + "\xe2\x82\xac"), "'" + std::string(119, 'x') + "...'");
}

}  // namespace pagoda::io
