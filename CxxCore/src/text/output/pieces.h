// PieceList: the pieces produced by one push; a continuation is merged with the piece before it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pagoda/output_parser.h"

namespace pagoda::text {

class PieceList {
 public:
  void add(OutputPieceKind kind, std::string_view text, int32_t tool_index = -1) {
    if (text.empty()) return;
    const bool continues = !pieces_.empty() && pieces_.back().kind == kind && pieces_.back().tool_index == tool_index;
    if (!continues) pieces_.push_back({kind, {}, tool_index, {}, {}});
    pieces_.back().text += text;
  }
  void add(OutputPiece piece) { pieces_.push_back(std::move(piece)); }
  std::vector<OutputPiece> take() { return std::exchange(pieces_, {}); }

 private:
  std::vector<OutputPiece> pieces_;
};

// Whether text starts with a tag, with a prefix of it that more text may complete, or neither.
enum class Match { no, partly, yes };

inline Match match(std::string_view text, std::string_view tag, bool at_end) noexcept {
  if (text.starts_with(tag)) return Match::yes;
  return !at_end && tag.starts_with(text) ? Match::partly : Match::no;
}

}  // namespace pagoda::text
