// Viterbi over the characters of a word. A character that no token spells has the lowest score minus ten; a run of
// such characters becomes one unknown token, or the tokens of their bytes.
#include "text/unigram.h"

#include <algorithm>

#include "text/unicode/unicode.h"

namespace pagoda::text {

void UnigramEncoder::find_best(std::string_view word) {
  constexpr double kUnknownPenalty = 10.0;
  const auto offer = [&](size_t begin, size_t end, int32_t id, double score) {
    Node& node = nodes_[end];
    if (node.begin == SIZE_MAX || score > node.score) node = {score, id, begin};
  };
  nodes_.assign(word.size() + 1, {});
  for (size_t begin = 0; begin < word.size();) {
    const size_t length = read_character(word.data() + begin).num_bytes;
    const double before = nodes_[begin].score;
    bool has_single = false;
    int32_t node = ByteTrie::kRoot;
    for (size_t end = begin; end < word.size();) {
      node = model_.tokens.child(node, word[end++]);
      if (node == ByteTrie::kNone) break;
      const int32_t id = model_.tokens.value(node);
      if (id == ByteTrie::kNone) continue;
      offer(begin, end, id, model_.scores[id] + before);
      has_single = has_single || end - begin == length;
    }
    if (!has_single) offer(begin, begin + length, model_.unknown_id, model_.min_score - kUnknownPenalty + before);
    begin += length;
  }
}

void UnigramEncoder::add_unknown(std::string_view text) {
  if (!model_.has_byte_ids) return ids_.push_back(model_.unknown_id);
  for (const char c : text) ids_.push_back(model_.byte_ids[static_cast<unsigned char>(c)]);
}

void UnigramEncoder::encode_word(std::string_view word) {
  if (word.empty()) return;
  find_best(word);
  ends_.clear();
  for (size_t end = word.size(); end > 0; end = nodes_[end].begin) ends_.push_back(end);
  std::reverse(ends_.begin(), ends_.end());
  size_t unknown = SIZE_MAX;  // where a run of unknown characters began
  for (const size_t end : ends_) {
    const Node& node = nodes_[end];
    if (node.id == model_.unknown_id) {
      unknown = std::min(unknown, node.begin);
      continue;
    }
    if (unknown != SIZE_MAX) add_unknown(word.substr(unknown, node.begin - unknown));
    unknown = SIZE_MAX;
    ids_.push_back(node.id);
  }
  if (unknown != SIZE_MAX) add_unknown(word.substr(unknown));
}

}  // namespace pagoda::text
