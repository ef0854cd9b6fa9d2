// FakeModel: a "model" whose logits are a hash of what it finds in the paged cache and the recurrent slot, so that any
// wrong block, slot, position or leftover of another sequence changes the tokens. Fast, and able to fail on demand.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/model.h"
#include "support/test.h"

namespace pagoda::test {

constexpr int32_t kFakeVocab = 97;

class FakeModel : public model::Model {
 public:
  int fail_at_step = -1;  // forward() number at which a device_error is returned
  int nan_at_step = -1;   // forward() number at which the first logits row holds a NaN
  int num_steps = 0;
  model::ModelSizes sizes;
  int32_t block_size;

  FakeModel(const model::ModelSizes& s, int32_t block, int32_t vocab_size = kFakeVocab)
      : sizes(s),
        block_size(block),
        vocab_size_(static_cast<uint64_t>(vocab_size)),
        keys_(static_cast<size_t>(s.num_kv_blocks * block), 0xdead),
        states_(static_cast<size_t>(s.num_state_slots), 0xdeadbeef) {}

  Status allocate(const model::ModelSizes&) override { return ok_status(); }
  std::span<const float> logits() const noexcept override { return logits_; }

  Status forward(const model::ForwardBatch& batch) override {
    const int step = num_steps++;
    check_sizes(batch);
    for (int32_t slot : batch.fresh_slots) states_[static_cast<size_t>(slot)] = 0;
    if (step == fail_at_step) return make_error(StatusCode::device_error, "injected");
    logits_.clear();
    size_t next_logits = 0;
    for (int b = 0; b < batch.num_seqs(); ++b) run_sequence(batch, b, next_logits);
    CHECK_EQ(next_logits, batch.logits_rows.size());
    if (step == nan_at_step && !logits_.empty()) logits_[3] = std::numeric_limits<float>::quiet_NaN();
    return ok_status();
  }

 private:
  static uint64_t mix(uint64_t a, uint64_t b) noexcept {
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6))) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
  }

  void check_sizes(const model::ForwardBatch& batch) const {
    CHECK(batch.num_tokens() <= sizes.max_num_tokens);
    CHECK(batch.num_seqs() <= sizes.max_num_seqs);
    CHECK_EQ(batch.block_tables.size(), static_cast<size_t>(batch.num_seqs() * sizes.max_blocks_per_seq));
    CHECK_EQ(batch.positions.size(), batch.token_ids.size());
    CHECK_EQ(batch.cu_seqlens.size(), batch.context_lens.size() + 1);
  }

  void run_sequence(const model::ForwardBatch& batch, int b, size_t& next_logits) {
    const int32_t* table = &batch.block_tables[static_cast<size_t>(b * sizes.max_blocks_per_seq)];
    uint64_t none = 0;
    uint64_t& state = states_.empty() ? none : states_[static_cast<size_t>(batch.state_slots[static_cast<size_t>(b)])];
    for (int32_t row = batch.cu_seqlens[static_cast<size_t>(b)]; row < batch.cu_seqlens[static_cast<size_t>(b) + 1];
         ++row) {
      const size_t r = static_cast<size_t>(row);
      keys_[static_cast<size_t>(batch.slot_mapping[r])] = batch.token_ids[r];
      state = mix(state, static_cast<uint64_t>(batch.token_ids[r]));
      if (next_logits >= batch.logits_rows.size() || batch.logits_rows[next_logits] != row) continue;
      ++next_logits;
      CHECK_EQ(batch.positions[r] + 1, batch.context_lens[static_cast<size_t>(b)]);
      write_logits(mix(attend(table, batch.positions[r]), states_.empty() ? 1 : state));
    }
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

  uint64_t vocab_size_;
  std::vector<int32_t> keys_;     // [num_kv_blocks * block_size]: the token cached in each place
  std::vector<uint64_t> states_;  // [num_state_slots]: hash of the tokens so far
  std::vector<float> logits_;
};

}  // namespace pagoda::test
