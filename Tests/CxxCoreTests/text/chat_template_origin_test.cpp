// Which bytes of a prompt come from the template and which from a variable: the guard against forged control tokens.
#include <string>

#include "base/json.h"
#include "support/test.h"
#include "text/jinja/jinja.h"

using namespace pagoda;

namespace {

// The prompt with foreign text in guillemets: <|im_start|>«user».
std::string marked(const std::string& source) {
  const auto variables = io::parse_json(
      R"({"u": "evil", "p": " pad ", "lines": "a\nb", "l": ["x", "y"],
          "d": {"k": "v"}, "i": 5, "t": true, "f": 1.5, "big": "a<b"})");
  const auto chat_template = text::JinjaTemplate::parse(source, "t.jinja");
  if (!chat_template.is_ok()) return chat_template.status.message;
  const auto segments = (*chat_template)->render(*variables);
  if (!segments.is_ok()) return segments.status.message;
  std::string out;
  for (const PromptSegment& segment : *segments) out += segment.from_template ? segment.text : "«" + segment.text + "»";
  return out;
}

}  // namespace

PAGODA_TEST(chat_template_origin_follows_each_byte) {
  const std::pair<const char*, const char*> rows[] = {
      {"<s>{{ u }}</s>", "<s>«evil»</s>"},
      {"{{ '<s>' + u + '</s>' }}", "<s>«evil»</s>"},
      {"{{ '<s>' ~ u ~ i ~ t ~ f }}", "<s>«evil»5True1.5"},
      {"{{ ('<' + u + '>')[0:3] }}", "<«ev»"},
      {"{{ ('<' + u + '>')[::-1] }}", ">«live»<"},
      {"{{ ('<' + u + '>')[-1] }}", ">"},
      {"{{ ('[' + p + ']').strip('[]') }}", "« pad »"},
      {"{{ (' ' + p + ' ') | trim }}", "«pad»"},
      {"{{ ('a,' + u + ',b').split(',') | join(';') }}", "a;«evil»;b"},
      {"{{ l | join('<sep>') }}", "«x»<sep>«y»"},
      {"{{ ['a', u, 'b'] | join }}", "a«evil»b"},
      {"{{ ('<' + u + '>').replace('<', '[').replace('>', ']') }}", "[«evil»]"},
      {"{{ 'a-b'.replace('-', u) }}", "a«evil»b"},
      {"{{ u.replace('v', '<|x|>') }}", "«e»<|x|>«il»"},
      {"{{ lines | indent(2, true) }}", "  «a»\n  «b»"},
      {"{{ u | upper }}", "«EVIL»"},
      {"{{ ('ok' ~ u) | upper }}", "«OKEVIL»"},
      {"{{ 'ok' | upper }}", "OK"},
      {"{{ d | tojson }}", "«{\"k\": \"v\"}»"},
      {"{{ d }}{{ l }}", "«{'k': 'v'}['x', 'y']»"},
      {"{{ {'a': [1, 'x']} | tojson }}{{ [1, 'x'] }}", "{\"a\": [1, \"x\"]}[1, 'x']"},
      {"{{ [i, t, f, none] }}{{ i + 1 }}{{ l | length }}", "[5, True, 1.5, None]62"},
      {"{{ '%s<|end|>' % u }}{{ '{}<|end|>'.format(u) }}", "«evil»<|end|>«evil»<|end|>"},
      {"{{ '<b>%s</b>' | format(u) }}", "<b>«evil»</b>"},
      {"{{ big | e }}", "«a&lt;b»"},
      {"{% set x %}<s>{{ u }}</s>{% endset %}{{ x }}", "<s>«evil»</s>"},
      {"{% macro m(c) %}<|{{ c }}|>{% endmacro %}{{ m(u) }}{{ m('ok') }}", "<|«evil»|><|ok|>"},
      {"{% filter trim %} <s>{{ u }} {% endfilter %}", "<s>«evil»"},
      {"{% for c in u %}{{ c }}-{% endfor %}", "«e»-«v»-«i»-«l»-"},
      {"{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}", "«k»=«v»"},
      {"{{ u * 2 }}{{ ('<' + u) * 2 }}", "«evilevil»<«evil»<«evil»"},
      {"{{ u.center(8, '.') }}{{ '42'.zfill(4) }}", "..«evil»..0042"},
      {"{{ u if false else 'ok' }}{{ e | default('<d>') }}{{ e | default(u) }}", "ok<d>«evil»"},
      {"{{ namespace(x=u).x }}{{ dict(x=u).x }}{{ [u][0] }}{{ (u,) | first }}", "«evilevilevilevil»"},
      {"{{ l | sort | reverse | join('') }}{{ l | map('upper') | join('+') }}", "«yxX»+«Y»"},
      {"{{ u | escape }}{{ '<' | escape }}", "«evil»&lt;"},
  };
  for (const auto& [source, expected] : rows) {
    test::note(source);
    CHECK_EQ(marked(source), std::string(expected));
  }
}

// A control token assembled from template and user text does not count as the template's.
PAGODA_TEST(chat_template_origin_splits_forged_tokens) {
  CHECK_EQ(marked("{{ '<|im_' + 'end|>' }}"), std::string("<|im_end|>"));
  CHECK_EQ(marked("<|{{ u }}|>"), std::string("<|«evil»|>"));
  CHECK_EQ(marked("{{ '<|' ~ u[0] ~ '|>' }}"), std::string("<|«e»|>"));
}

PAGODA_TEST(chat_template_origin_counts_constants_as_the_templates_own) {
  const auto variables = io::parse_json(R"({"bos_token": "forged", "u": "evil"})");
  const auto chat_template = text::JinjaTemplate::parse("{{ bos_token + u }}", "t.jinja", {{"bos_token", "<s>"}});
  REQUIRE_OK(chat_template);
  const auto segments = (*chat_template)->render(*variables);
  REQUIRE_OK(segments);
  REQUIRE(segments->size() == 2);
  CHECK((*segments)[0].text == "<s>" && (*segments)[0].from_template);
  CHECK((*segments)[1].text == "evil" && !(*segments)[1].from_template);
}
