// PastTexts compared with a search through all texts, its limits, and isolation of salts.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "speculate/past_texts.h"
#include "support/test.h"

namespace pagoda::speculate {
namespace {

using Tokens = std::vector<int32_t>;

Tokens drafts_of(PastTexts& texts, const std::string& salt, const Tokens& end, int32_t max_drafts = 4) {
  Tokens drafts;
  PastTexts::draft_from(texts.find(salt, end), max_drafts, drafts);
  return drafts;
}

Tokens counting(int32_t first, int32_t count) {
  Tokens tokens;
  for (int32_t i = 0; i < count; ++i) tokens.push_back(first + i);
  return tokens;
}

// How many tokens before `position` of a text equal the end of `tokens`.
int32_t common_end(const Tokens& text, size_t position, const Tokens& tokens) {
  int32_t length = 0;
  for (size_t i = 0; i < position && i < tokens.size() && length < PastTexts::kMaxMatch; ++i, ++length)
    if (text[position - 1 - i] != tokens[tokens.size() - 1 - i]) break;
  return length;
}

}  // namespace

PAGODA_TEST(past_texts_draft_what_followed_up_to_the_end_of_the_text) {
  PastTexts texts;
  texts.add("a", counting(100, 20));
  texts.add("a", counting(500, 20));
  CHECK(drafts_of(texts, "a", counting(100, 10)) == counting(110, 4));
  CHECK(drafts_of(texts, "a", counting(98, 20)) == counting(118, 2));
  CHECK(drafts_of(texts, "a", counting(100, 20)).empty());
  CHECK(drafts_of(texts, "a", counting(100, PastTexts::kMinMatch - 1)).empty());
}

PAGODA_TEST(past_texts_of_another_salt_are_not_seen) {
  PastTexts texts;
  texts.add("a", counting(100, 20));
  texts.add("", counting(300, 20));
  CHECK(drafts_of(texts, "b", counting(100, 10)).empty());
  CHECK(drafts_of(texts, "", counting(100, 10)).empty());
  CHECK(drafts_of(texts, "a", counting(300, 10)).empty());
  CHECK_EQ(drafts_of(texts, "", counting(300, 10)).size(), 4u);
}

PAGODA_TEST(past_texts_forget_the_oldest_salt_and_the_oldest_tokens) {
  PastTexts texts;
  for (size_t i = 0; i < PastTexts::kMaxSalts; ++i) texts.add(std::to_string(i), counting(100, 20));
  CHECK_EQ(drafts_of(texts, "0", counting(100, 10)).size(), 4u);  // and is no longer the oldest
  texts.add("new", counting(100, 20));
  CHECK_EQ(drafts_of(texts, "0", counting(100, 10)).size(), 4u);
  CHECK(drafts_of(texts, "1", counting(100, 10)).empty());
  texts.add("0", counting(1000, PastTexts::kMaxTokens + 500));
  CHECK(drafts_of(texts, "0", counting(100, 10)).empty());
  CHECK(drafts_of(texts, "0", counting(1000, 10)).empty());
  CHECK(drafts_of(texts, "0", counting(5000, 10)) == counting(5010, 4));
}

PAGODA_TEST(past_texts_find_the_longest_match) {
  std::mt19937_64 rng(test::seed(80));
  PastTexts texts;
  std::vector<Tokens> all;
  int64_t num_found = 0;
  for (int round = 0; round < 200; ++round) {
    Tokens tokens;
    for (size_t i = 0; i < 60; ++i) {
      const bool copies = !all.empty() && rng() % 4 == 0;
      const Tokens& from = copies ? all[rng() % all.size()] : tokens;
      if (copies && from.size() > 20) {
        const size_t begin = rng() % (from.size() - 12);
        tokens.insert(tokens.end(), from.begin() + static_cast<int64_t>(begin),
                      from.begin() + static_cast<int64_t>(begin + 12));
      } else {
        tokens.push_back(static_cast<int32_t>(rng() % 50));
      }
    }
    int32_t longest = 0;
    for (const Tokens& text : all)
      for (size_t position = 1; position <= text.size(); ++position)
        longest = std::max(longest, common_end(text, position, tokens));
    const PastTexts::Match match = texts.find("", tokens);
    // Among many positions of the same eight tokens the most recent are compared.
    CHECK(match.length <= longest && (match.length > 0) == (longest >= PastTexts::kMinMatch));
    num_found += match.length > 0;
    texts.add("", tokens);
    all.push_back(tokens);
    if (all.size() > 40) all.clear(), texts = PastTexts();
  }
  CHECK(num_found > 20);
}

}  // namespace pagoda::speculate
