// LookupIndex compared with a search through the whole text.
#include "speculate/lookup_index.h"

#include <random>

#include "support/test.h"

namespace pagoda::speculate {
namespace {

using Match = LookupIndex::Match;

// The earlier position with the longest match with the end of the text; of equally long ones the last.
Match search(const std::vector<int32_t>& text) {
  Match best;
  const int32_t end = static_cast<int32_t>(text.size()) - 1;
  for (int32_t position = 0; position < end; ++position) {
    int32_t length = 0;
    while (length < LookupIndex::kMaxMatch && length <= position &&
           text[static_cast<size_t>(position - length)] == text[static_cast<size_t>(end - length)])
      ++length;
    if (length >= LookupIndex::kMinMatch && length >= best.length) best = {length, position + 1};
  }
  return best;
}

}  // namespace

PAGODA_TEST(lookup_finds_what_a_search_finds) {
  std::mt19937_64 rng(test::seed(60));
  for (int round = 0; round < 40; ++round) {
    const uint64_t num_kinds = 2 + rng() % 200;
    LookupIndex index(400);
    std::vector<int32_t> text;
    int num_found = 0;
    for (int i = 0; i < 400; ++i) {
      const bool copies = text.size() > 50 && rng() % 4 != 0;
      text.push_back(copies ? text[text.size() - 37] : static_cast<int32_t>(rng() % num_kinds));
      if (rng() % 3 == 0) index.follow(text);
      if (rng() % 2 == 0) continue;
      index.follow(text);
      const Match found = index.find(text), wanted = search(text);
      if (num_kinds > 50) CHECK_EQ(found.length, wanted.length);  // few enough positions to compare them all
      if (num_kinds > 50) CHECK_EQ(found.next, wanted.next);
      CHECK(found.length <= wanted.length);
      num_found += found.length > 0;
    }
    CHECK(num_found > 20);
  }
}

PAGODA_TEST(lookup_drafts_the_following_tokens_and_repeats_loops) {
  const std::vector<int32_t> text = {1, 2, 3, 4, 5, 9, 1, 2, 3};
  LookupIndex index(16);
  index.follow(text);
  std::vector<int32_t> drafts;
  draft_from(index.find(text), text, 4, drafts);
  CHECK(drafts == std::vector<int32_t>({4, 5, 9, 1}));
  const std::vector<int32_t> loop = {7, 8, 7, 8, 7, 8};
  LookupIndex of_loop(16);
  of_loop.follow(loop);
  drafts.clear();
  draft_from(of_loop.find(loop), loop, 7, drafts);
  CHECK(drafts == std::vector<int32_t>({7, 8, 7, 8, 7, 8, 7}));
  drafts.clear();
  draft_from(index.find(std::vector<int32_t>(text.begin(), text.end())), text, 0, drafts);
  CHECK(drafts.empty());
}

PAGODA_TEST(lookup_takes_no_more_than_it_was_made_for) {
  LookupIndex index(300);
  std::vector<int32_t> text(300, 5);
  index.follow(text);
  CHECK(index.find(text).length > 0);
  text.resize(1000, 6);
  index.follow(text);
  CHECK_EQ(index.find(text).length, 0);  // what followed the 300th token says nothing about the 1001st
}

}  // namespace pagoda::speculate
