// Templates compared with the output of jinja2 in the environment of `transformers`, byte for byte.
// Fixtures: Tools/fixtures/chat_template_fixtures.py.
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "pagoda/chat_template.h"
#include "support/test.h"
#include "text/jinja/jinja.h"

using namespace pagoda;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::string fixture(const std::string& name) { return read_file(test::fixtures_dir() + "/text/chat_template/" + name); }

std::string text_of(const io::Json& object, const char* key) {
  const io::Json* member = object.find(key);
  return member != nullptr ? member->as_string() : std::string();
}

std::string source_of(const io::Json& entry) {
  if (entry.find("mini_model") != nullptr) return read_file(test::mini_model_dir() + "/chat_template.jinja");
  return entry.find("file") != nullptr ? fixture(text_of(entry, "file")) : text_of(entry, "source");
}

std::string joined(const std::vector<PromptSegment>& segments) {
  std::string text;
  for (const PromptSegment& segment : segments) text += segment.text;
  return text;
}

// Renders one case; empty if it is as expected, otherwise the difference.
std::string check_case(const text::JinjaTemplate& chat_template, const io::Json& variables,
                       const io::Json& expected_case) {
  text::JinjaLimits limits;
  limits.max_time = std::chrono::seconds(600);  // sanitizers are slow
  const auto rendered = chat_template.render(variables, limits);
  const io::Json* expected = expected_case.find("expected");
  if (expected == nullptr) {
    if (rendered.is_ok())
      return "expected an error (" + text_of(expected_case, "error") + "), got: " + joined(*rendered);
    return rendered.status.code == StatusCode::invalid_argument ? "" : "wrong code: " + rendered.status.message;
  }
  if (!rendered.is_ok()) return "error: " + rendered.status.message;
  if (joined(*rendered) == expected->as_string()) return "";
  return "\n--- expected\n" + expected->as_string() + "\n--- got\n" + joined(*rendered);
}

struct Totals {
  size_t templates = 0, cases = 0;
};

Totals check_fixtures(bool chat_templates) {
  Totals totals;
  const auto document = io::parse_json(fixture("cases.json"));
  CHECK_OK(document);
  if (!document.is_ok()) return totals;
  const io::Json& shared = *document->find("shared_variables");
  for (const io::Json& entry : document->find("templates")->items()) {
    if ((entry.find("source") == nullptr) != chat_templates) continue;
    const std::string name = text_of(entry, "name"), source = source_of(entry);
    const auto chat_template = text::JinjaTemplate::parse(source, "t.jinja");
    ++totals.templates;
    if (!chat_template.is_ok()) {
      test::fail(__FILE__, __LINE__, name + ": " + chat_template.status.message + "\n" + source);
      continue;
    }
    for (const io::Json& expected_case : entry.find("cases")->items()) {
      const io::Json* own = expected_case.find("variables");
      const std::string difference = check_case(**chat_template, own != nullptr ? *own : shared, expected_case);
      ++totals.cases;
      if (!difference.empty())
        test::fail(__FILE__, __LINE__,
                   name + " / " + text_of(expected_case, "label") + ": " + (own == nullptr ? source : "") + difference);
    }
  }
  return totals;
}

}  // namespace

PAGODA_TEST(chat_template_renders_conversations_as_jinja2) {
  const Totals totals = check_fixtures(true);
  CHECK(totals.templates >= 7);
  CHECK(totals.cases >= 250);
}

PAGODA_TEST(jinja_renders_the_language_as_jinja2) {
  const Totals totals = check_fixtures(false);
  CHECK(totals.templates >= 120);
}
