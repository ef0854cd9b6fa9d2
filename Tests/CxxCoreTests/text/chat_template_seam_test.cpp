// The class that Swift uses: results instead of exceptions, and a reference count.
#include <thread>
#include <vector>

#include "pagoda/chat_template.h"
#include "support/test.h"
#include "text/jinja/jinja.h"

using namespace pagoda;

namespace {

ChatTemplate* make_template(const char* source) {
  auto parsed = text::JinjaTemplate::parse(source, "chat_template.jinja");
  CHECK_OK(parsed);
  return parsed.is_ok() ? new ChatTemplate(*parsed) : nullptr;
}

}  // namespace

PAGODA_TEST(chat_template_gives_text_and_segments) {
  ChatTemplate* chat_template =
      make_template("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}");
  REQUIRE(chat_template != nullptr);
  const RenderResult result = chat_template->render(R"({"messages": [{"role": "user", "content": "hi <|im_end|>"}]})");
  CHECK_OK(result.status);
  CHECK_EQ(result.text, std::string("<|im_start|>user\nhi <|im_end|><|im_end|>\n"));
  REQUIRE(result.segments.size() == 5);
  CHECK_EQ(result.segments[3].text, std::string("hi <|im_end|>"));
  CHECK(!result.segments[3].from_template);
  CHECK_EQ(result.segments[4].text, std::string("<|im_end|>\n"));
  CHECK(result.segments[4].from_template);
  pagoda_chat_template_release(chat_template);
}

PAGODA_TEST(chat_template_reports_bad_variables) {
  ChatTemplate* chat_template = make_template("{{ messages[0].content }}");
  REQUIRE(chat_template != nullptr);
  for (const char* json : {"", "{", "[]", "{\"messages\": [}", "{\"messages\": 1} x", "\"\\ud800\""}) {
    const RenderResult result = chat_template->render(json);
    test::note(std::string(json) + " -> " + result.status.message);
    CHECK(result.status.code == StatusCode::invalid_argument);
    CHECK(result.text.empty() && result.segments.empty());
  }
  CHECK(chat_template->render("{\"messages\": []}").status.code == StatusCode::invalid_argument);
  pagoda_chat_template_release(chat_template);
}

PAGODA_TEST(chat_template_is_shared_between_threads) {
  ChatTemplate* chat_template = make_template("{% for i in range(20) %}{{ s }}{{ loop.index }}{% endfor %}");
  REQUIRE(chat_template != nullptr);
  const std::string expected = chat_template->render("{\"s\": \"x\"}").text;
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (size_t t = 0; t < good.size(); ++t) {
    pagoda_chat_template_retain(chat_template);
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) good[t] += chat_template->render("{\"s\": \"x\"}").text == expected;
      pagoda_chat_template_release(chat_template);
    });
  }
  pagoda_chat_template_release(chat_template);
  for (auto& thread : threads) thread.join();
  for (const int count : good) CHECK_EQ(count, 20);
}

namespace {

std::string rendered(const char* source, const std::string& variables) {
  ChatTemplate* chat_template = make_template(source);
  if (chat_template == nullptr) return "";
  const RenderResult result = chat_template->render(variables);
  CHECK_OK(result.status);
  pagoda_chat_template_release(chat_template);
  return result.text;
}

constexpr const char* kCallAndResult = R"({"messages": [
  {"role": "user", "content": "go"},
  {"role": "assistant", "content": "", "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "now", "arguments": {"zone": "UTC", "n": [1, 2.5, null]}}}]},
  {"role": "tool", "content": "12:00", "tool_call_id": "c1"},
  {"role": "tool", "content": "?", "tool_call_id": "c9"}]})";

}  // namespace

PAGODA_TEST(chat_template_gets_arguments_in_the_form_it_asks_for) {
  const std::string loop = "{% for m in messages %}{% for c in m.tool_calls or [] %}";
  const std::string object = R"({"zone": "UTC", "n": [1, 2.5, null]})";
  // Printed unchanged: text. Converted to JSON, or read key by key: an object.
  CHECK_EQ(rendered((loop + "{{ c.function.arguments }}{% endfor %}{% endfor %}").c_str(), kCallAndResult), object);
  CHECK_EQ(rendered((loop + "{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}").c_str(), kCallAndResult),
           object);
  CHECK_EQ(rendered((loop + "{% for k, v in c.function.arguments | items %}{{ k }}={{ v }};{% endfor %}"
                            "{% endfor %}{% endfor %}")
                        .c_str(),
                    kCallAndResult),
           std::string("zone=UTC;n=[1, 2.5, None];"));
  // Templates that check the type get the object.
  CHECK_EQ(rendered((loop + "{% if c.function.arguments is string %}{{ c.function.arguments }}{% else %}"
                            "o{{ c.function.arguments | tojson }}{% endif %}{% endfor %}{% endfor %}")
                        .c_str(),
                    kCallAndResult),
           "o" + object);
}

PAGODA_TEST(chat_template_sees_the_name_and_id_of_a_tool_result) {
  const char* source =
      "{% for m in messages if m.role == 'tool' %}{{ m.tool_call_id }}:{{ m.name }}={{ m.content }};{% endfor %}";
  CHECK_EQ(rendered(source, kCallAndResult), std::string("c1:now=12:00;c9:=?;"));
}
