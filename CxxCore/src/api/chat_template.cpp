// ChatTemplate of the public headers: JSON in, rendered prompt segments out.
#include "pagoda/chat_template.h"
#include "base/assign_or_return.h"

#include <utility>

#include "api/guard.h"
#include "base/json.h"
#include "text/chat_messages.h"
#include "text/jinja/jinja.h"

void pagoda_chat_template_retain(pagoda::ChatTemplate* chat_template) noexcept {
  pagoda::api::retain(chat_template->references_);
}

void pagoda_chat_template_release(pagoda::ChatTemplate* chat_template) noexcept {
  if (pagoda::api::release(chat_template->references_)) delete chat_template;
}

namespace pagoda {

ChatTemplate::ChatTemplate(std::shared_ptr<const text::JinjaTemplate> impl) noexcept : impl_(std::move(impl)) {
  (void)api::guarded([&] {  // after a failure the arguments are passed unchanged
    text_arguments_ = text::wants_text_arguments(*impl_);
    return ok_status();
  });
}
ChatTemplate::~ChatTemplate() = default;

RenderResult ChatTemplate::render(const std::string& variables_json) const noexcept {
  return api::guarded_result<RenderResult>([&](RenderResult& result) -> Status {
    const auto variables = io::parse_json(variables_json);
    if (!variables.is_ok())
      return make_error(StatusCode::invalid_argument, "template variables: " + variables.status.message);
    PAGODA_ASSIGN_OR_RETURN(result.segments, impl_->render(text::prepare_messages(*variables, text_arguments_)));
    for (const PromptSegment& segment : result.segments) result.text += segment.text;
    return ok_status();
  });
}

}  // namespace pagoda
