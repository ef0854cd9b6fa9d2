// SegmentList: the segments produced by one push; a continuation is merged with the segment before it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pagoda/output_parser.h"

namespace pagoda::text {

class SegmentList {
 public:
  void add(OutputSegmentKind kind, std::string_view text, int32_t tool_index = -1) {
    if (text.empty()) return;
    const bool continues =
        !segments_.empty() && segments_.back().kind == kind && segments_.back().tool_index == tool_index;
    if (!continues) segments_.push_back({kind, {}, tool_index, {}, {}});
    segments_.back().text += text;
  }
  void add(OutputSegment segment) { segments_.push_back(std::move(segment)); }
  std::vector<OutputSegment> take() { return std::exchange(segments_, {}); }

 private:
  std::vector<OutputSegment> segments_;
};

// Whether text starts with a tag, with a prefix of it that more text may complete, or neither.
enum class Match { no, partly, yes };

inline Match match(std::string_view text, std::string_view tag, bool at_end) noexcept {
  if (text.starts_with(tag)) return Match::yes;
  return !at_end && tag.starts_with(text) ? Match::partly : Match::no;
}

}  // namespace pagoda::text
