// Letter case, whitespace and printability as in Python's str, as far as chat templates can observe them.
#pragma once

#include <string>
#include <string_view>

namespace pagoda::text::jinja {

void append_lower_at(std::string_view text, size_t at, std::string& out);  // one character; handles the final sigma
void append_lower(char32_t c, std::string& out);
void append_upper(char32_t c, std::string& out);
void append_title(char32_t c, std::string& out);
bool is_lower(char32_t c) noexcept;
bool is_upper(char32_t c) noexcept;
bool is_cased(char32_t c) noexcept;
bool is_space(char32_t c) noexcept;      // str.isspace and the \s of re
bool is_line_end(char32_t c) noexcept;   // where str.splitlines splits
bool is_printable(char32_t c) noexcept;  // shown verbatim by repr

std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace pagoda::text::jinja
