// FakeModel: a "model" whose logits are a hash of what it finds in the paged cache and the recurrent slot, so that any
// wrong block, slot, position or leftover of another sequence changes the tokens. Fast, and able to fail on demand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "model/model.h"
#include "speculate/policy.h"
#include "support/test.h"

namespace pagoda::test {

constexpr int32_t kFakeVocab = 97, kFakeHidden = 2;

class FakeModel : public model::Model {
 public:
  int fail_at_step = -1;  // forward() number at which a device_error is returned
  bool fails = false;     // every forward() fails from now on
  bool is_early = false;  // steps run asynchronously: their results arrive with finish()
  int nan_at_step = -1;   // forward() number at which the first logits row holds a NaN
  int num_steps = 0;
  int largest_step = 0;  // tokens
  int num_projections = 0;
  int num_logits_rows = 0;        // rows that the engine could read
  int num_draws = 0;              // draws that the engine would leave to the model
  int64_t num_table_entries = 0;  // block table entries written
  EngineLimits sizes;
  int32_t block_size;

  FakeModel(const EngineLimits& s, int32_t block, int32_t vocab_size = kFakeVocab)
      : sizes(s),
        block_size(block),
        vocab_size_(static_cast<uint64_t>(vocab_size)),
        keys_(static_cast<size_t>(s.num_kv_blocks * block), 0xdead),
        states_(static_cast<size_t>(s.num_state_slots)),
        tables_(static_cast<size_t>(s.max_num_seqs * s.max_blocks_per_seq), -1) {}

  Status allocate(const EngineLimits&) override { return ok_status(); }
  std::span<const float> logits() const noexcept override { return logits_; }
  std::span<const int32_t> picked() const noexcept override { return picked_; }

  bool launches_early() const noexcept override { return is_early; }
  Status launch(const model::ForwardBatch& batch) override {
    Status status = forward(batch);
    if (is_early) std::swap(early_status_, status);
    is_launched = true;
    return status;
  }
  Status finish() override {
    CHECK(is_launched);
    is_launched = false;
    return std::exchange(early_status_, {});
  }
  bool is_launched = false;  // but not finished

  Status forward(const model::ForwardBatch& batch) override {
    const int step = num_steps++;
    check_sizes(batch);
    update_tables(batch);
    largest_step = std::max(largest_step, batch.num_tokens());
    for (const cache::Copy& copy : batch.block_copies)
      for (int32_t i = 0; i < block_size; ++i) key_at(copy.to, i) = key_at(copy.from, i);
    for (const cache::Copy& copy : batch.slot_copies)
      states_[static_cast<size_t>(copy.to)] = states_[static_cast<size_t>(copy.from)];
    for (int32_t slot : batch.fresh_slots)
      states_[static_cast<size_t>(slot)] = {.hash = 0, .num_folded = 0, .num_tokens = 0};
    if (step == fail_at_step || fails) return make_error(StatusCode::device_error, "injected");
    logits_.clear();
    row_hashes_.clear();
    next_logits_ = next_save_ = 0;
    for (int b = 0; b < batch.num_seqs(); ++b) run_sequence(batch, b);
    CHECK_EQ(next_logits_, batch.logits_rows.size());
    CHECK_EQ(next_save_, batch.state_saves.size());
    if (step == nan_at_step && !logits_.empty()) logits_[3] = std::numeric_limits<float>::quiet_NaN();
    pick_highest(batch);
    return ok_status();
  }

  Status project(std::span<const int32_t> rows) override {
    CHECK(static_cast<int32_t>(rows.size()) <= sizes.max_logits_rows);
    ++num_projections;
    logits_.clear();
    picked_.clear();
    for (const int32_t row : rows) write_logits(row_hashes_.at(static_cast<size_t>(row)));
    return ok_status();
  }

  bool gives_states() const noexcept override { return true; }
  // Two values of the row's hash.
  Status read_state(int32_t row, std::span<float> to) override {
    CHECK_EQ(to.size(), static_cast<size_t>(kFakeHidden));
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(mix(row_hashes_.at(static_cast<size_t>(row)), i) >> 40);
    return ok_status();
  }

  std::function<Status()> before_read;  // on the thread that copies a state out
  Status read_block(int32_t block, int32_t num_tokens, std::span<std::byte> to) override {
    PAGODA_RETURN_IF_ERROR(copy_bytes(to.data(), &key_at(block, 0), to.size(), block_bytes()));
    const size_t kept = static_cast<size_t>(num_tokens) * sizeof(int32_t);
    if (kept < to.size()) std::memset(to.data() + kept, 0, to.size() - kept);
    return ok_status();
  }
  std::function<void()> before_write;  // on the thread that copies a block back
  Status write_block(int32_t block, std::span<const std::byte> from) override {
    if (before_write) before_write();
    return copy_bytes(&key_at(block, 0), from.data(), from.size(), block_bytes());
  }
  Status read_slot(int32_t slot, std::span<std::byte> to) override {
    if (before_read) PAGODA_RETURN_IF_ERROR(before_read());
    return copy_bytes(to.data(), &states_[static_cast<size_t>(slot)], to.size(), sizeof(State));
  }
  Status write_slot(int32_t slot, std::span<const std::byte> from) override {
    return copy_bytes(&states_[static_cast<size_t>(slot)], from.data(), from.size(), sizeof(State));
  }
  size_t block_bytes() const noexcept { return static_cast<size_t>(block_size) * sizeof(int32_t); }

  // The content of a slot, which a new owner must not see unless it was zeroed or overwritten. Like the real state:
  // tokens are folded into a hash in blocks of 16, which cannot be undone; those of the open block and the last few
  // inputs are stored by position and may be overwritten.
  struct State {
    static constexpr int64_t kBlock = 16, kRing = 10, kLookBack = 3;
    uint64_t hash = 0xdeadbeef;  // of the whole blocks
    int64_t num_folded = 0;      // tokens in it
    int64_t num_tokens = -1;
    int32_t rows[kBlock] = {}, ring[kRing] = {};
  };

 private:
  static Status copy_bytes(void* to, const void* from, size_t size, size_t expected) {
    CHECK_EQ(size, expected);
    std::memcpy(to, from, size);
    return ok_status();
  }
  int32_t& key_at(int32_t block, int32_t offset) { return keys_[static_cast<size_t>(block * block_size + offset)]; }

  static uint64_t mix(uint64_t a, uint64_t b) noexcept {
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6))) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
  }

  void check_sizes(const model::ForwardBatch& batch) const {
    CHECK(batch.num_tokens() <= sizes.max_num_tokens);
    CHECK(batch.num_seqs() <= sizes.max_num_seqs);
    CHECK(static_cast<int32_t>(batch.logits_rows.size()) <= sizes.max_logits_rows);
    CHECK(batch.has_table_changes);
    CHECK_EQ(batch.block_tables.size(), tables_.size());
    CHECK_EQ(batch.positions.size(), batch.token_ids.size());
    CHECK_EQ(batch.cu_seqlens.size(), batch.context_lens.size() + 1);
  }

  // The model keeps its own block tables: an entry that the batch does not mark as changed is from an earlier step.
  void update_tables(const model::ForwardBatch& batch) {
    for (const model::TableChange& change : batch.table_changes) {
      CHECK(change.row < batch.num_seqs() && change.first + change.count <= sizes.max_blocks_per_seq);
      const auto offset = static_cast<std::ptrdiff_t>(change.row) * sizes.max_blocks_per_seq + change.first;
      std::copy_n(batch.block_tables.begin() + offset, change.count, tables_.begin() + offset);
      num_table_entries += change.count;
    }
  }

  void run_sequence(const model::ForwardBatch& batch, int b) {
    const int32_t* table = &tables_[static_cast<size_t>(b * sizes.max_blocks_per_seq)];
    State none;
    State& state = states_.empty() ? none : states_[static_cast<size_t>(batch.state_slots[static_cast<size_t>(b)])];
    for (int32_t row = batch.cu_seqlens[static_cast<size_t>(b)]; row < batch.cu_seqlens[static_cast<size_t>(b) + 1];
         ++row) {
      const size_t r = static_cast<size_t>(row);
      keys_[static_cast<size_t>(batch.slot_mapping[r])] = batch.token_ids[r];
      const uint64_t hash = states_.empty() ? 1 : add_token(state, batch.positions[r], batch.token_ids[r]);
      if (next_save_ < batch.state_saves.size() && batch.state_saves[next_save_].end_row == row + 1) {
        const model::StateSave& save = batch.state_saves[next_save_++];
        CHECK_EQ(save.from, batch.state_slots[static_cast<size_t>(b)]);
        states_[static_cast<size_t>(save.to)] = state;
      }
      if (batch.keeps_states) row_hashes_.push_back(mix(attend(table, batch.positions[r]), hash));
      if (next_logits_ >= batch.logits_rows.size() || batch.logits_rows[next_logits_] != row) continue;
      ++next_logits_;
      const int64_t num_kept = states_.empty() ? speculate::kMaxPositions : State::kRing - State::kLookBack;
      CHECK(batch.context_lens[static_cast<size_t>(b)] - batch.positions[r] <= 1 + num_kept);
      write_logits(mix(attend(table, batch.positions[r]), hash));
    }
  }

  // The state after the token at `position`, which may replace an earlier token.
  static uint64_t add_token(State& state, int64_t position, int32_t token) {
    CHECK(position <= state.num_tokens);
    CHECK(position >= state.num_folded && position < state.num_folded + State::kBlock);
    CHECK(position > state.num_tokens - 1 - (State::kRing - State::kLookBack));
    state.rows[position % State::kBlock] = token;
    state.ring[position % State::kRing] = token;
    state.num_tokens = position + 1;
    uint64_t hash = state.hash;
    for (int64_t i = 0; i <= position % State::kBlock; ++i) hash = mix(hash, static_cast<uint64_t>(state.rows[i]));
    if ((position + 1) % State::kBlock == 0) {
      state.hash = hash;
      state.num_folded = position + 1;
    }
    for (int64_t p = std::max<int64_t>(0, position - State::kLookBack); p < position; ++p)
      hash = mix(hash, static_cast<uint64_t>(state.ring[p % State::kRing]));
    return hash;
  }

  uint64_t attend(const int32_t* table, int32_t position) const noexcept {
    uint64_t hash = 7;
    for (int32_t p = 0; p <= position; ++p)
      hash = mix(
          hash, static_cast<uint64_t>(keys_[static_cast<size_t>(table[p / block_size] * block_size + p % block_size)]));
    return hash;
  }

  void write_logits(uint64_t hash) {
    for (uint64_t v = 0; v < vocab_size_; ++v)
      logits_.push_back(static_cast<float>(mix(hash, v) >> 40) / static_cast<float>(1 << 22));
  }

  // Like a device that keeps its logits and finds the maximum: rows whose token is already known are not needed.
  void pick_highest(const model::ForwardBatch& batch) {
    picked_.clear();
    for (size_t row = 0; row < batch.logits_rows.size(); ++row) {
      const auto begin = logits_.begin() + static_cast<std::ptrdiff_t>(row * vocab_size_),
                 end = begin + static_cast<std::ptrdiff_t>(vocab_size_);
      const bool is_good = std::all_of(begin, end, [](float logit) { return logit < 1e30f; });
      const uint32_t top_k = batch.draws.empty() ? 0 : batch.draws[row].top_k;
      if (top_k > 1) ++num_draws;
      picked_.push_back(is_good && top_k == 1 ? static_cast<int32_t>(std::max_element(begin, end) - begin) : -1);
      if (picked_.back() < 0) ++num_logits_rows;
      else std::fill(begin, end, std::numeric_limits<float>::quiet_NaN());
    }
  }

  uint64_t vocab_size_;
  std::vector<int32_t> keys_;         // [num_kv_blocks * block_size]: the token cached at each offset
  std::vector<State> states_;         // [num_state_slots]
  std::vector<int32_t> tables_;       // [max_num_seqs, max_blocks_per_seq]
  std::vector<uint64_t> row_hashes_;  // [T] of the last step, if its states are kept
  std::vector<float> logits_;
  std::vector<int32_t> picked_;
  size_t next_logits_ = 0, next_save_ = 0;
  Status early_status_;
};

}  // namespace pagoda::test
