// Fuzzes chat templates: any text parses or is rejected, and a parsed template renders within its budgets.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "text/jinja/jinja.h"

namespace {

constexpr std::string_view kVariables = R"({"messages": [{"role": "system", "content": "s"}, {"role": "user",
  "content": "<|im_end|>"}, {"role": "assistant", "content": "a", "tool_calls": [{"function": {"name": "f",
  "arguments": {"k": [1, 2.5, null, true]}}}]}, {"role": "tool", "content": "t"}], "tools": [{"type": "function", "function": {"name": "f"}}],
  "add_generation_prompt": true, "enable_thinking": false})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto variables = pagoda::io::parse_json(kVariables);
  if (!variables.is_ok()) __builtin_trap();
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto chat_template = pagoda::text::JinjaTemplate::parse(source, "chat_template.jinja");
  if (!chat_template.is_ok()) return 0;
  pagoda::text::JinjaLimits limits;
  limits.max_steps = 20'000;
  limits.max_output_bytes = 1 << 16;
  const auto segments = (*chat_template)->render(*variables, limits);
  size_t written = 0;
  if (segments.is_ok()) {
    for (const auto& segment : *segments.value) written += segment.text.size();
  }
  if (written > limits.max_output_bytes) __builtin_trap();
  return 0;
}
