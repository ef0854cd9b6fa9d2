// Word boundaries of deepseek-llm, whose patterns run in sequence: each splits only the text left by the previous
// ones. Text between p and end is valid UTF-8 and not empty.
#pragma once

namespace pagoda::text {

const char* line_end_word(const char* p, const char* end) noexcept;     // [\r\n]
const char* cased_word(const char* p, const char* end) noexcept;        // \s?[letters with a case]+
const char* punctuation_word(const char* p, const char* end) noexcept;  // \s?[ASCII, full-width and CJK punctuation]+
const char* last_spaces_word(const char* p, const char* end) noexcept;  // \s+$
const char* east_asian_word(const char* p, const char* end) noexcept;   // [U+0800-U+9FA5 and Hangul]+

}  // namespace pagoda::text
