// Bad templates and bad input: typed errors that name file, line and reason.
#include <string>

#include "base/json.h"
#include "support/test.h"
#include "text/jinja/jinja.h"

using namespace pagoda;

namespace {

struct Row {
  const char* source;
  StatusCode code;
  const char* message;  // a part of it
};

void check_rows(std::initializer_list<Row> rows) {
  const auto variables = io::parse_json(R"({"s": "text", "l": [1, 2], "d": {"a": 1}, "n": null})");
  for (const Row& row : rows) {
    const auto chat_template = text::JinjaTemplate::parse(row.source, "chat.jinja");
    const Status status = chat_template.is_ok() ? (*chat_template)->render(*variables).status : chat_template.status;
    test::note(std::string(row.source) + " -> " + status.message);
    CHECK(status.code == row.code);
    CHECK(status.message.rfind("chat.jinja:", 0) == 0);
    CHECK(status.message.find(row.message) != std::string::npos);
  }
}

}  // namespace

PAGODA_TEST(jinja_syntax_errors_name_the_line) {
  constexpr StatusCode bad = StatusCode::bad_file;
  check_rows({
      {"\n{% frobnicate %}", bad, ":2: unknown tag 'frobnicate'"},
      {"{% do l.append(1) %}", bad, "unknown tag 'do'"},
      {"{% include 'x' %}", StatusCode::unsupported, "'include' is not supported"},
      {"{% extends 'x' %}", StatusCode::unsupported, "'extends'"},
      {"{% import 'os' as os %}", StatusCode::unsupported, "'import'"},
      {"{% if s %}\n\n", bad, "ends before 'endif'"},
      {"{% for x in l %}", bad, "ends before 'endfor'"},
      {"{% for x in l %}{% endif %}", bad, "unknown tag 'endif'"},
      {"{% for in l %}{% endfor %}", bad, "expected 'in'"},
      {"{% for x l %}{% endfor %}", bad, "expected 'in', got 'l'"},
      {"{{ }}", bad, "expected an expression"},
      {"{{ s", bad, "Missing }}"},
      {"{% if s", bad, "Missing %}"},
      {"{# open", bad, "Missing end of comment"},
      {"{% raw %} x", bad, "Missing end of raw"},
      {"{{ 'open }}", bad, "string is not closed"},
      {"{{ (1 }}", bad, "unexpected '}', expected ')'"},
      {"{{ 1) }}", bad, "unexpected ')'"},
      {"{{ s ! }}", bad, "unexpected char '!'"},
      {"{{ 1 2 }}", bad, "expected '}}', got a number"},
      {"{{ '\\ud800' }}", bad, "no Unicode character"},
      {"{{ '\\xZZ' }}", bad, "malformed escape"},
      {"{{ 99999999999999999999 }}", bad, "does not fit 64 bits"},
      {"{% break %}", bad, "outside of a loop"},
      {"{% for x in l %}{% macro f() %}{% continue %}{% endmacro %}{% endfor %}", bad, "outside of a loop"},
      {"{% set 1 = 2 %}", bad, "expected a name"},
      {"{% set none = 2 %}", bad, "can't assign to 'none'"},
      {"{% set %}", bad, "expected a name"},
      {"{% macro %}{% endmacro %}", bad, "expected a name"},
      {"{% macro f(a=1, b) %}{% endmacro %}", bad, "needs a default"},
      {"{% call s %}{% endcall %}", bad, "expected a call"},
      {"{{ f(a=1, 2) }}", bad, "order of arguments"},
      {"{{ f(**a, *b) }}", bad, "order of arguments"},
      {"{{ s is string is string }}", bad, "cannot follow each other"},
      {"{{ l[] }}", bad, "expected a subscript"},
      {"{{ {1} }}", bad, "expected ':'"},
      {"{{ s. }}", bad, "expected a name"},
      {"{% 1 %}", bad, "expected the name of a tag"},
      {"{% if %}{% endif %}", bad, "expected an expression"},
  });
}

PAGODA_TEST(jinja_invalid_utf8_is_refused) {
  const auto chat_template = text::JinjaTemplate::parse("ab\xff{{ s }}", "chat.jinja");
  CHECK(chat_template.status.code == StatusCode::bad_file);
  CHECK(chat_template.status.message.find("invalid UTF-8 at byte 2") != std::string::npos);
  const auto good = text::JinjaTemplate::parse("{{ s }}", "chat.jinja");
  REQUIRE_OK(good);
  const auto variables = io::Json::make_object({{"s", io::Json::make_string("x\xf0")}});
  CHECK((*good)->render(variables).status.code == StatusCode::invalid_argument);
  CHECK((*good)->render(io::Json::make_bool(true)).status.code == StatusCode::invalid_argument);
}

// A branch that is not taken may use unsupported names.
PAGODA_TEST(jinja_unknown_filters_and_tests_are_errors_where_they_run) {
  const auto variables = io::Json::make_object({{"s", io::Json::make_string("x")}});
  for (const char* source :
       {"a{% if false %}{{ s | nope }}{{ s | pprint }}{% endif %}", "a{% if false and s is nope %}b{% endif %}",
        "{{ 'a' if true else s | nope(1, k=2) }}", "a{% macro f() %}{% filter nope %}{% endfilter %}{% endmacro %}"}) {
    const auto chat_template = text::JinjaTemplate::parse(source, "chat.jinja");
    REQUIRE_OK(chat_template);
    const auto segments = (*chat_template)->render(variables);
    REQUIRE_OK(segments);
    CHECK(segments->size() == 1 && segments->front().text == "a");
  }
}

PAGODA_TEST(jinja_runtime_errors_name_the_line_and_the_reason) {
  constexpr StatusCode wrong = StatusCode::invalid_argument;
  check_rows({
      {"a\nb\n{{ s | nope }}", wrong, ":3: unknown filter 'nope'"},
      {"{{ s is nope }}", wrong, ":1: unknown test 'nope'"},
      {"{{ s | pprint }}", StatusCode::unsupported, "'pprint' is not supported"},
      {"{{ s | urlencode }}", StatusCode::unsupported, "'urlencode' is not supported"},
      {"{{ raise_exception('Only user and assistant roles!') }}", wrong,
       "chat.jinja:1: Only user and assistant roles!"},
      {"\n\n{{ nothing.x }}", wrong, ":3: 'nothing' is undefined"},
      {"{{ nothing | upper }}{{ nothing.x | upper }}", wrong, "'nothing' is undefined"},
      {"{{ d.q.r }}", wrong, "'dict object' has no attribute 'q'"},
      {"{{ n.q.r }}", wrong, "'None' has no attribute 'q'"},
      {"{{ l[7].x }}", wrong, "list object has no element 7"},
      {"{{ s.frob() }}", wrong, "'str object' has no attribute 'frob'"},
      {"{{ d.pop('a') }}", wrong, "unsafe"},
      {"{{ s.__class__() }}", wrong, "unsafe"},
      {"{{ s + 1 }}", wrong, "can only concatenate str (not \"int\") to str"},
      {"{{ 1 + s }}", wrong, "unsupported operand type(s) for +: 'int' and 'str'"},
      {"{{ n < 1 }}", wrong, "'<' not supported between instances of 'NoneType' and 'int'"},
      {"{{ 2 ** 64 }}", wrong, "does not fit 64 bits"},
      {"{{ 9223372036854775807 + 1 }}", wrong, "does not fit 64 bits"},
      {"{{ -9223372036854775807 - 2 }}", wrong, "does not fit 64 bits"},
      {"{{ (-9223372036854775807 - 1) // -1 }}", wrong, "does not fit 64 bits"},
      {"{{ s | replace('a') }}", wrong, "missing required argument 'new'"},
      {"{{ s | upper(1) }}", wrong, "takes at most 0"},
      {"{{ s | tojson(wide=1) }}", wrong, "unexpected keyword argument 'wide'"},
      {"{{ l | map('frob') | list }}", wrong, "No filter named 'frob'"},
      {"{{ l | select('frob') | list }}", wrong, "No test named 'frob'"},
      {"{% set ns = namespace() %}{% set ns._x = 1 %}", wrong, "underscore"},
      {"{% for x in l %}{{ loop(l) }}{% endfor %}", wrong, "'recursive' marker"},
      {"{% set ns = namespace() %}{% for x in l recursive %}{% set ns.l = loop %}{% endfor %}{{ ns.l(l) }}", wrong,
       "ended"},
      {"{{ range(3)() }}", wrong, "'range' object is not callable"},
      {"{{ range }}{{ strftime_now(1) }}", wrong, "strftime_now()"},
  });
}

PAGODA_TEST(jinja_odd_but_legal_things_render) {
  const auto variables = io::parse_json(R"({"s": "text", "l": [1, 2], "range": "mine"})");
  for (const char* source :
       {"{% set ns = namespace() %}{% for x in l %}{% set ns.l = loop %}{% endfor %}{{ ns.l.index }}{{ ns.l.last }}",
        "{% set ns = namespace() %}{% for x in l %}{% macro m() %}{{ x }}{{ loop.index }}{% endmacro %}{% set ns.m = m "
        "%}{% endfor %}{{ ns.m() }}",
        "{{ range }}", "{{ strftime_now('%Y-%m-%d') | length }}", "{{ strftime_now('') }}",
        "{% set x = s.strip %}{{ x() }}", "{{ s | truncate(9223372036854775807, leeway=9223372036854775807) }}",
        "{{ s.center(-9223372036854775807) }}",
        "{{ l[-9223372036854775807:9223372036854775807] }}{{ s[::-9223372036854775807] }}{{ l[9223372036854775807] }}",
        "{{ 1e308 * 10 }}{{ (1e308 * 10) | tojson }}{{ -(1e308 * 10) | int }}{{ 1.5 | round(400) }}{{ 1.5 | "
        "round(-400) }}"}) {
    const auto chat_template = text::JinjaTemplate::parse(source, "chat.jinja");
    REQUIRE_OK(chat_template);
    test::note(source);
    CHECK_OK((*chat_template)->render(*variables));
  }
}
