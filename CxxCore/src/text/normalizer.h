// NFC: Unicode canonical composition, keeping track of where each part of the text came from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::text {

// A stretch of text with one origin, from the end of the run before it (or the start) to `end`.
struct OriginRun {
  size_t end;
  bool from_template;
};

bool is_certainly_nfc(std::string_view text) noexcept;  // quick; false means "look closer"

// Appends the NFC of `text` (valid UTF-8) to `out`. `runs` cover `text`; `out_runs` get the runs that cover what was
// appended: characters that became one count as the template's only if all of them were.
void append_nfc(std::string_view text, const std::vector<OriginRun>& runs, std::string& out,
                std::vector<OriginRun>& out_runs);

// Appends a run, or lengthens the last one when the origin is the same.
void add_run(size_t end, bool from_template, std::vector<OriginRun>& runs);

}  // namespace pagoda::text
