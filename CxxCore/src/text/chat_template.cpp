// The seam's ChatTemplate: JSON in, rendered pieces out, no exception across.
#include "pagoda/chat_template.h"

#include <exception>

#include "base/json.h"
#include "text/jinja/jinja.h"

void pagoda_chat_template_retain(pagoda::ChatTemplate* chat_template) noexcept {
  __atomic_add_fetch(&chat_template->references_, 1, __ATOMIC_RELAXED);
}

void pagoda_chat_template_release(pagoda::ChatTemplate* chat_template) noexcept {
  if (__atomic_sub_fetch(&chat_template->references_, 1, __ATOMIC_ACQ_REL) == 0) delete chat_template;
}

namespace pagoda {
namespace {

RenderResult render_checked(const text::JinjaTemplate& chat_template, const std::string& variables_json) {
  RenderResult result;
  const auto variables = io::parse_json(variables_json);
  if (!variables.is_ok()) {
    result.status = make_error(StatusCode::invalid_argument, "template variables: " + variables.status.message);
    return result;
  }
  auto pieces = chat_template.render(*variables);
  result.status = pieces.status;
  if (!pieces.is_ok()) return result;
  result.pieces = std::move(*pieces);
  for (const PromptPiece& piece : result.pieces) result.text += piece.text;
  return result;
}

RenderResult failed(StatusCode code, const char* message) noexcept {
  RenderResult result;
  result.status.code = code;
  try {
    result.status.message = message;
  } catch (...) {  // no memory for the words; the code alone must do
  }
  return result;
}

}  // namespace

ChatTemplate::ChatTemplate(std::shared_ptr<const text::JinjaTemplate> impl) noexcept : impl_(std::move(impl)) {}
ChatTemplate::~ChatTemplate() = default;

RenderResult ChatTemplate::render(const std::string& variables_json) const noexcept {
  try {
    return render_checked(*impl_, variables_json);
  } catch (const std::bad_alloc&) {
    return failed(StatusCode::out_of_memory, "no memory to render the chat template");
  } catch (const std::exception& error) {
    return failed(StatusCode::internal, error.what());
  } catch (...) {
    return failed(StatusCode::internal, "rendering the chat template failed");
  }
}

}  // namespace pagoda
