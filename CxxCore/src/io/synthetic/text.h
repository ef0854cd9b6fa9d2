// The text files of a shape: a vocabulary of made-up words with the size of the real one, and a chat template.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda::io {

// tokenizer.json with this many entries, 300 to 400,000: bytes, words, pairs of letters, and the control tokens of the
// template at the end. A word is a space and up to four small letters, and the text of words is encoded as the same
// words again: an answer that returns in a conversation has the tokens that were generated.
std::string shape_tokenizer_json(int32_t vocab_size);

// chat_template.jinja, in ChatML with tools. It has no thinking.
std::string_view shape_chat_template() noexcept;

}  // namespace pagoda::io
