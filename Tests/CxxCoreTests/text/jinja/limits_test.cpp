// Templates that need too much: each ends with a typed error within its budget, before the memory is allocated.
#include <string>

#include "base/json.h"
#include "support/test.h"
#include "text/jinja/jinja.h"

using namespace pagoda;

namespace {

const char* const kVariables = R"({"s": "text", "l": [1, 2, 3], "d": {"a": 1}, "deep": [[[[1]]]]})";

// Renders with generous time, so that only the budget meant by the row can stop it.
Status render(const std::string& source, text::JinjaLimits limits = {.max_time = std::chrono::seconds(60)}) {
  const auto chat_template = text::JinjaTemplate::parse(source, "bad.jinja");
  if (!chat_template.is_ok()) return chat_template.status;
  const auto variables = io::parse_json(kVariables);
  return (*chat_template)->render(*variables, limits).status;
}

std::string repeated(const std::string& unit, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += unit;
  return out;
}

}  // namespace

PAGODA_TEST(jinja_too_much_work_is_refused) {
  const char* const rows[] = {
      "{% for x in range(10**9) %}x{% endfor %}",
      "{% for x in range(-(10**18), 10**18) %}x{% endfor %}",
      "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
      "{% for a in l recursive %}{{ loop(l) }}{% endfor %}",
      "{{ 'a' * 10**9 }}",
      "{{ 10**15 * 'ab' }}",
      "{{ [0] * 10**9 }}",
      "{{ ('a' * 10**7) * 10**7 }}",
      "{{ (l * 10**5) | join('x' * 10**4) }}",
      "{{ ('x' * 10**7).replace('x', 'y' * 1000) }}",
      "{{ ('x' * 10**7).replace('', 'y' * 1000) }}",
      "{{ 'x'.center(10**12) }}{{ 'x'.zfill(10**12) }}",
      "{{ 'x'.ljust(9223372036854775807) }}",
      "{{ '%999999999d' % 1 }}",
      "{{ '{:>999999999}'.format(1) }}",
      "{{ 'x' | indent(10**10) }}",
      "{{ d | tojson(indent=10**10) }}",
      "{{ ('\\n' * 10**7).splitlines() }}",
      "{{ (',' * 10**7).split(',') | length }}",
      "{{ ('a' * 10**7) | list | length }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f(n) %}{% for x in [1] %}{% if true %}{{ f(n + 1) }}{% endif %}{% endfor %}{% endmacro %}{{ f(0) }}",
      "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ "
      "g() }}",
      "{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=()) %}{% for i in range(5000) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ {ns.x: 1} }}",
      "{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x == [ns.x] }}",
      "{% set ns = namespace(x={}) %}{% for i in range(5000) %}{% set ns.x = {'k': ns.x} %}{% endfor %}{{ ns.x | "
      "tojson }}",
      "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}",
      "{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
      "{% for i in range(100000) %}{{ 'x' * 100 }}{% endfor %}",
      "{% set big = 'x' * 3000000 %}{{ big }}{{ big }}",
  };
  // A tenth of the usual budgets keeps the test short.
  const text::JinjaLimits tight{.max_steps = 50'000,
                                .max_output_bytes = 400 << 10,
                                .max_time = std::chrono::seconds(60),
                                .max_memory_bytes = 12 << 20};
  for (const char* source : rows) {
    const Status status = render(source, tight);
    test::note(std::string(source) + " -> " + status.message);
    CHECK(status.code == StatusCode::resource_exhausted);
    CHECK(status.message.rfind("bad.jinja:1: ", 0) == 0);
  }
}

PAGODA_TEST(jinja_default_budgets_hold) {
  for (const char* source : {"{{ 'a' * 10**9 }}", "{% for x in range(10**9) %}{% endfor %}",
                             "{% set big = 'x' * 3000000 %}{{ big }}{{ big }}",
                             "{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}",
                             "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"}) {
    test::note(source);
    CHECK(render(source, {}).code == StatusCode::resource_exhausted);
  }
}

PAGODA_TEST(jinja_each_budget_is_its_own) {
  const std::string loop = "{% for i in range(1000) %}{{ i }}{% endfor %}";
  CHECK_OK(render(loop));
  CHECK(render(loop, {.max_steps = 500}).code == StatusCode::resource_exhausted);
  CHECK(render(loop, {.max_output_bytes = 500}).code == StatusCode::resource_exhausted);
  CHECK(render(loop, {.max_time = std::chrono::milliseconds(-1)}).code == StatusCode::resource_exhausted);
  CHECK(render("{{ 'x' * 5000 }}", {.max_memory_bytes = 4000}).code == StatusCode::resource_exhausted);
  CHECK(render("{% macro f(n) %}{{ f(n - 1) if n else '' }}{% endmacro %}{{ f(20) }}", {.max_depth = 10}).code ==
        StatusCode::resource_exhausted);
  CHECK_OK(render("{% macro f(n) %}{{ f(n - 1) if n else '' }}{% endmacro %}{{ f(20) }}"));
}

// Strings free their memory, so building a long text in small steps costs its length, not its square.
PAGODA_TEST(jinja_growing_a_string_frees_the_old_ones) {
  CHECK_OK(render(
      "{% set ns = namespace(s='') %}{% for i in range(2000) %}{% set ns.s = ns.s + 'xxxxxxxxxx' * 10 %}{% endfor %}"
      "{{ ns.s | length }}",
      {.max_time = std::chrono::seconds(60), .max_memory_bytes = 4 << 20}));
}

// Two long texts that nearly match: a naive search compares 10^11 bytes.
PAGODA_TEST(jinja_searching_stays_inside_the_time_budget) {
  const Status status =
      render("{% set a = 'a' * 1000000 %}{% set b = 'a' * 500000 + 'b' %}{{ b in a }}{{ a.rfind(b) }}",
             {.max_time = std::chrono::milliseconds(20)});
  CHECK(status.code == StatusCode::resource_exhausted);
}

PAGODA_TEST(jinja_huge_and_deep_sources_are_refused) {
  const Status large = render(std::string(10 << 20, 'x'));
  CHECK(large.code == StatusCode::bad_file);
  CHECK(large.message.find("10485760 bytes") != std::string::npos);
  for (const auto& [open, close] :
       {std::pair{"(", ")"}, {"[", "]"}, {"-", ""}, {"not ", ""}, {"{1: ", "}"}, {"f(", ")"}, {"x[", "]"}}) {
    const Status deep = render("{{ " + repeated(open, 20000) + "1" + repeated(close, 20000) + " }}");
    CHECK(deep.code == StatusCode::bad_file);
  }
  CHECK(render(repeated("{% if x %}", 20000)).code == StatusCode::bad_file);
  CHECK(render("{{ x" + repeated(".a", 20000) + " }}").code == StatusCode::bad_file);
  CHECK(render("{{ x" + repeated("|upper", 20000) + " }}").code == StatusCode::bad_file);
  CHECK(render("{{ 1" + repeated(" if x else 1", 20000) + " }}").code == StatusCode::bad_file);
  CHECK(render("{% set " + repeated("(", 20000) + "a = 1 %}").code == StatusCode::bad_file);
}

PAGODA_TEST(jinja_long_flat_sources_are_fine) {
  CHECK_OK(render("{{ 1" + repeated(" + 1", 5000) + " }}"));
  CHECK_OK(render("{{ s" + repeated(" ~ s", 5000) + " }}"));
  CHECK_OK(render("{% if s == 1 %}" + repeated("{% elif s == 1 %}", 5000) + "{% endif %}"));
  CHECK_OK(render("{{ x and " + repeated("x and ", 5000) + "x }}"));
  std::string names = "{% set a0 = 1 %}";
  for (int i = 1; i < 3000; ++i) names += "{% set a" + std::to_string(i) + " = 1 %}";
  CHECK_OK(render(names));
}
