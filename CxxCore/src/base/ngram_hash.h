// NgramHash: the rows of an n-gram embedding table for the last tokens of a text (Qwen4-Exp). Several heads hash each
// order of n-gram (pairs, triples, ...) into a part of the table with a prime number of rows of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda {

struct NgramHashConfig {
  int32_t vocab_size = 0;
  int32_t ngram_size = 0;       // of the longest n-gram; at least 2
  int32_t heads_per_ngram = 0;  // for each order
  int32_t vocab_base = 0;       // no part has fewer rows
  int32_t row_multiple = 1;     // of the rows of the table, which is padded
  int32_t seed = 0;
  int32_t eos_token_id = 0;            // ends a segment: tokens before it count as eos
  std::vector<int64_t> multipliers{};  // [ngram_size]; empty: they follow from the seed
};

struct NgramHash {
  int32_t ngram_size = 0, heads_per_ngram = 0, eos_token_id = 0;
  std::vector<int64_t> multipliers;       // [ngram_size], odd; no product with a token overflows
  std::vector<int64_t> sizes, first_row;  // [heads] of each head's part
  int64_t num_rows = 0;                   // of the whole table, with padding

  int64_t num_heads() const noexcept { return static_cast<int64_t>(sizes.size()); }
  // The rows [heads] for a token: tokens[0] is that token and tokens[i] the one i before it, eos before the text
  // begins.
  void rows(std::span<const int32_t> tokens, std::span<int64_t> rows) const noexcept;
};

// `table_index` counts the model's tables: the primes of a table follow those of the one before.
NgramHash make_ngram_hash(const NgramHashConfig& config, int32_t table_index);

}  // namespace pagoda
