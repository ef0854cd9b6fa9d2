// Primes, multipliers and rows, as in transformers: a hash is the XOR of token times multiplier, modulo the part's
// size.
#include "base/ngram_hash.h"

#include <algorithm>
#include <limits>

namespace pagoda {
namespace {

constexpr uint64_t kGamma = 0x9E3779B97F4A7C15u;

uint64_t splitmix64(uint64_t value) noexcept {
  value += kGamma;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

bool is_prime(int64_t value) noexcept {
  if (value < 4 || value % 2 == 0) return value == 2 || value == 3;
  for (int64_t divisor = 3; divisor * divisor <= value; divisor += 2)
    if (value % divisor == 0) return false;
  return true;
}

int64_t next_prime(int64_t after) noexcept {
  do ++after;
  while (!is_prime(after));
  return after;
}

}  // namespace

NgramHash make_ngram_hash(const NgramHashConfig& config, int32_t table_index) {
  constexpr int64_t kPrimeOfTables = 10007;
  NgramHash hash;
  hash.ngram_size = config.ngram_size;
  hash.heads_per_ngram = config.heads_per_ngram;
  hash.eos_token_id = config.eos_token_id;
  const int64_t limit = std::numeric_limits<int64_t>::max() / std::max(config.vocab_size, 1);
  const auto half = static_cast<uint64_t>(std::max<int64_t>(1, limit / 2));
  const auto seed = static_cast<uint64_t>(config.seed + kPrimeOfTables * table_index);
  hash.multipliers = config.multipliers;
  for (auto i = static_cast<int32_t>(hash.multipliers.size()); i < config.ngram_size; ++i)
    hash.multipliers.push_back(
        static_cast<int64_t>(2 * (splitmix64(seed + kGamma * static_cast<uint64_t>(i + 1)) % half) + 1));
  const int64_t heads = int64_t{config.ngram_size - 1} * config.heads_per_ngram;
  int64_t prime = int64_t{config.vocab_base} - 1;
  for (int64_t head = 0; head < (table_index + 1) * heads; ++head) {
    prime = next_prime(prime);
    if (head < table_index * heads) continue;
    hash.sizes.push_back(prime);
    hash.first_row.push_back(hash.num_rows);
    hash.num_rows += prime;
  }
  hash.num_rows = (hash.num_rows + config.row_multiple - 1) / config.row_multiple * config.row_multiple;
  return hash;
}

void NgramHash::rows(std::span<const int32_t> tokens, std::span<int64_t> rows) const noexcept {
  int64_t mixed = tokens[0] * multipliers[0];
  bool has_ended = false;
  for (int32_t order = 1; order < ngram_size; ++order) {
    const auto i = static_cast<size_t>(order);
    has_ended = has_ended || tokens[i] == eos_token_id;
    mixed ^= (has_ended ? eos_token_id : tokens[i]) * multipliers[i];
    for (int32_t h = 0; h < heads_per_ngram; ++h) {
      const auto head = static_cast<size_t>((order - 1) * heads_per_ngram + h);
      rows[head] = first_row[head] + mixed % sizes[head];
    }
  }
}

}  // namespace pagoda
