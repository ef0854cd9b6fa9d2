// Messages in the form a chat template expects: tool calls' arguments as an object or as text, and the names of tools
// beside their results.
#pragma once

#include "base/json.h"
#include "text/jinja/jinja.h"

namespace pagoda::text {

// Whether the template prints arguments as they are, so that they must be JSON text already. Rendered twice to see.
bool wants_text_arguments(const JinjaTemplate& chat_template);

// `variables` with each message's tool calls in that form, and with `name` in each tool message that has the id of a
// call before it and no name.
io::Json prepare_messages(const io::Json& variables, bool text_arguments);

}  // namespace pagoda::text
