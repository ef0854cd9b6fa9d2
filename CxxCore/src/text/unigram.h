// UnigramModel: splits a word into the tokens with the highest sum of scores. Immutable once built.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/byte_trie.h"

namespace pagoda::text {

struct UnigramModel {
  ByteTrie tokens;             // by id
  std::vector<double> scores;  // by id
  double min_score = 0.0;
  int32_t unknown_id = -1;
  std::array<int32_t, 256> byte_ids{};  // for characters that no token spells; used unless one of them is -1
  bool has_byte_ids = false;

  bool is_used() const noexcept { return !scores.empty(); }
};

// Holds the scratch memory of one encode() call. Single-threaded.
class UnigramEncoder {
 public:
  UnigramEncoder(const UnigramModel& model, std::vector<int32_t>& ids) : model_(model), ids_(ids) {}
  void encode_word(std::string_view word);  // valid UTF-8

 private:
  struct Node {  // the best path to this offset
    double score = 0.0;
    int32_t id = -1;
    size_t begin = SIZE_MAX;  // start of its last token; SIZE_MAX: no path yet
  };
  void find_best(std::string_view word);
  void add_unknown(std::string_view text);

  const UnigramModel& model_;
  std::vector<int32_t>& ids_;
  std::vector<Node> nodes_;
  std::vector<size_t> ends_;
};

}  // namespace pagoda::text
