// NFC: Unicode canonical composition that tracks the origin of each part of the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::text {

// A run of text with one origin, from the end of the previous run (or the start) to `end`.
struct OriginRun {
  size_t end;
  bool from_template;
};

bool is_certainly_nfc(std::string_view text) noexcept;  // quick check; false means undecided

// Appends the NFC of `text` (valid UTF-8) to `out`. `runs` cover `text`; `out_runs` receives the runs that cover the
// appended text: a composed character counts as the template's only if all its parts did.
void append_nfc(std::string_view text, const std::vector<OriginRun>& runs, std::string& out,
                std::vector<OriginRun>& out_runs);

// Appends a run, or extends the last one if the origin is the same.
void add_run(size_t end, bool from_template, std::vector<OriginRun>& runs);

}  // namespace pagoda::text
