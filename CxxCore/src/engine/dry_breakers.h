// DryBreakers: the tokens that contain one of DRY's breakers, for the lists that requests have used last. Any thread
// may use it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "text/bpe/tokenizer.h"

namespace pagoda::engine {

class DryBreakers {
 public:
  static constexpr size_t kMaxLists = 8;

  // Ascending ids; none without a tokenizer. A new list takes a pass over the vocabulary.
  std::shared_ptr<const std::vector<int32_t>> find(const text::SubwordTokenizer* tokenizer, int32_t vocab_size,
                                                   const std::vector<std::string>& breakers);

 private:
  struct Entry {
    std::vector<std::string> breakers;
    std::shared_ptr<const std::vector<int32_t>> ids;
  };
  std::mutex mutex_;          // guards the entries
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace pagoda::engine
