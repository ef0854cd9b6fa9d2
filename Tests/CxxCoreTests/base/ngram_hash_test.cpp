// base/ngram_hash: primes, multipliers and rows of transformers' Qwen4ExpTextNGramEmbedding.
#include "base/ngram_hash.h"

#include "support/test.h"

namespace pagoda {
namespace {

// The last tokens of a text before `end`, newest first.
std::vector<int32_t> last_tokens(const NgramHash& hash, const std::vector<int32_t>& text, size_t end) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < hash.ngram_size; ++i)
    tokens.push_back(static_cast<size_t>(i) < end ? text[end - 1 - static_cast<size_t>(i)] : hash.eos_token_id);
  return tokens;
}

}  // namespace

PAGODA_TEST(ngram_hash_has_the_rows_of_transformers) {
  const NgramHash hash = make_ngram_hash({.vocab_size = 120,
                                          .ngram_size = 3,
                                          .heads_per_ngram = 2,
                                          .vocab_base = 50,
                                          .row_multiple = 8,
                                          .seed = 1234,
                                          .eos_token_id = 2},
                                         1);
  CHECK(hash.multipliers == std::vector<int64_t>({19639665467684461, 7423608324309619, 23497555829784697}));
  CHECK(hash.sizes == std::vector<int64_t>({71, 73, 79, 83}));
  CHECK(hash.first_row == std::vector<int64_t>({0, 71, 144, 223}));
  CHECK_EQ(hash.num_rows, 312);
  const std::vector<std::vector<int64_t>> wanted = {{8, 143, 160, 298}, {11, 133, 155, 225}, {70, 135, 162, 227},
                                                    {3, 120, 201, 243}, {39, 78, 152, 262},  {38, 81, 204, 225},
                                                    {2, 106, 201, 253}, {39, 116, 193, 299}};
  const std::vector<int32_t> text = {5, 7, 2, 11, 2, 3, 4, 100};  // 2 ends a segment
  for (size_t i = 0; i < text.size(); ++i) {
    std::vector<int64_t> rows(4);
    hash.rows(last_tokens(hash, text, i + 1), rows);
    CHECK(rows == wanted[i]);
  }
}

PAGODA_TEST(ngram_hash_of_published_size_has_the_primes_of_transformers) {
  const NgramHash hash = make_ngram_hash({.vocab_size = 248320,
                                          .ngram_size = 3,
                                          .heads_per_ngram = 8,
                                          .vocab_base = 20'000'000,
                                          .row_multiple = 128,
                                          .seed = 1234,
                                          .eos_token_id = 2},
                                         0);
  CHECK(hash.multipliers == std::vector<int64_t>({23703573157769, 20109073645365, 8052911324071}));
  CHECK(hash.sizes.front() == 20000003 && hash.sizes.back() == 20000171 && hash.first_row.back() == 300001275);
  CHECK_EQ(hash.num_rows, 320001536);
  std::vector<int64_t> rows(16);
  hash.rows(last_tokens(hash, {3, 4, 100}, 3), rows);
  CHECK(rows.front() == 3972719 && rows.back() == 305175655);
}

}  // namespace pagoda
