// Messages in the form a chat template expects: tool calls' arguments as an object or as text, and the names of tools
// in their results.
#pragma once

#include "base/json.h"
#include "text/jinja/jinja.h"

namespace pagoda::text {

// Whether the template prints arguments unchanged, so that they must be JSON text. Determined by rendering twice.
bool wants_text_arguments(const JinjaTemplate& chat_template);

// `variables` with each message's tool calls in that form, and with `name` in each tool message that refers to an
// earlier call and has no name.
io::Json prepare_messages(const io::Json& variables, bool text_arguments);

}  // namespace pagoda::text
