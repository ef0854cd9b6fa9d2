// Forecast: visits the end of each sequence, which is when the demand peaks before blocks become free.
#include "scheduler/forecast.h"

#include <algorithm>
#include <array>
#include <span>

#include "cache/prefix_index.h"

namespace pagoda::scheduler {

using request::Sequence;

constexpr int64_t kMinBlocks = 4;      // minimum horizon per sequence, if the pool has many times as many blocks
constexpr int32_t kHorizonDecay = 16;  // each early end undoes one part in this many of the horizon's growth

static int32_t min_horizon(const cache::BlockManager& blocks, int32_t max_num_seqs) noexcept {
  return static_cast<int32_t>(std::min(kMinBlocks, blocks.num_blocks() / (8 * max_num_seqs))) * blocks.block_size();
}

Forecast::Forecast(const cache::BlockManager& blocks, int32_t max_num_seqs, int32_t max_model_len)
    : blocks_(blocks),
      min_horizon_(min_horizon(blocks, max_num_seqs)),
      max_horizon_(std::max(max_model_len, min_horizon_)),
      horizon_(min_horizon_) {
  rows_.reserve(static_cast<size_t>(max_num_seqs) + 1);
}

// Shared blocks are the first ones of a table: after the same tokens come the same blocks.
void Forecast::add(const Sequence& sequence) noexcept {
  const auto held = std::span(sequence.block_table).subspan(static_cast<size_t>(sequence.num_freed_blocks));
  const auto own = std::ranges::partition_point(held, [this](int32_t block) { return blocks_.ref_count(block) > 1; });
  const int64_t num_own = held.empty() ? blocks_.blocks_for(sequence.num_to_compute) : held.end() - own;
  rows_.push_back(
      {.num_left = std::max(0, sequence.max_num_tokens - 1 - sequence.num_tokens()),  // the last one is not cached
       .num_filled = sequence.num_tokens() % blocks_.block_size(),
       .num_own = num_own});
}

int64_t Forecast::num_blocks_wanted() noexcept {
  const int32_t block_size = blocks_.block_size();
  std::array<int64_t, cache::kMaxBlockSize> num_alive{};  // by num_filled
  for (const Row& row : rows_) ++num_alive[static_cast<size_t>(row.num_filled)];
  // New blocks of all live sequences after each has got that many tokens.
  const auto growth = [&](int32_t num_tokens) {
    const int32_t whole = num_tokens / block_size, rest = num_tokens % block_size;
    int64_t count = 0;
    for (int32_t filled = 0; filled < block_size; ++filled) {
      const int32_t last = (filled + rest > 0) + (filled + rest > block_size) - (filled > 0);
      count += num_alive[static_cast<size_t>(filled)] * (whole + last);
    }
    return count;
  };
  std::ranges::sort(rows_, {}, &Row::num_left);
  int64_t most = 0, num_returned = 0;
  for (const Row& row : rows_) {
    most = std::max(most, growth(std::min(row.num_left, horizon_)) - num_returned);
    if (row.num_left >= horizon_) break;
    num_returned += row.num_own;
    --num_alive[static_cast<size_t>(row.num_filled)];
  }
  return most;
}

void Forecast::note_preemption() noexcept {
  const int64_t further = std::max<int64_t>(2 * int64_t{horizon_}, horizon_ + blocks_.block_size());
  horizon_ = static_cast<int32_t>(std::min<int64_t>(further, max_horizon_));
}

void Forecast::note_end(const Sequence& sequence) noexcept {
  if (sequence.max_num_tokens - sequence.num_tokens() < blocks_.block_size()) return;
  horizon_ -= (horizon_ - min_horizon_ + kHorizonDecay - 1) / kHorizonDecay;
}

}  // namespace pagoda::scheduler
