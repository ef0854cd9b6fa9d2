// ChatTemplate: renders messages to prompt text with the model's own Jinja template, within budgets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {
class ChatTemplate;
namespace text {
class JinjaTemplate;
}
}  // namespace pagoda

void pagoda_chat_template_retain(pagoda::ChatTemplate* PAGODA_NONNULL chat_template) noexcept;
void pagoda_chat_template_release(pagoda::ChatTemplate* PAGODA_NONNULL chat_template) noexcept;

namespace pagoda {

// A segment of a rendered prompt. Text that came from the template may spell control tokens; text that came from a
// message may not, so a user who types <|im_end|> gets those characters, not the token.
struct PromptSegment {
  std::string text;
  bool from_template = true;
};

struct RenderResult {
  Status status;
  std::string text;                     // the whole prompt, equal to what jinja2 renders
  std::vector<PromptSegment> segments;  // the same text, split where its origin changes
};

class PAGODA_SHARED_REFERENCE(pagoda_chat_template_retain, pagoda_chat_template_release) ChatTemplate {
 public:
  // variables_json: a JSON object with `messages`, `add_generation_prompt`, and all other variables of the template
  // (`tools`, `enable_thinking`, ...). Key order is kept. Arguments of tool calls become text if the template prints
  // them unchanged, and a tool's result gets the name of the call that it answers. Budgets: 500,000 steps, 4 MiB of
  // output, 250 ms.
  RenderResult render(const std::string& variables_json) const noexcept;

  explicit ChatTemplate(std::shared_ptr<const text::JinjaTemplate> impl) noexcept;
  ~ChatTemplate();
  ChatTemplate(const ChatTemplate&) = delete;
  ChatTemplate& operator=(const ChatTemplate&) = delete;

 private:
  friend void ::pagoda_chat_template_retain(ChatTemplate* PAGODA_NONNULL) noexcept;
  friend void ::pagoda_chat_template_release(ChatTemplate* PAGODA_NONNULL) noexcept;
  std::shared_ptr<const text::JinjaTemplate> impl_;
  bool text_arguments_ = false;
  int64_t references_ = 1;  // atomic by builtin
};

}  // namespace pagoda
