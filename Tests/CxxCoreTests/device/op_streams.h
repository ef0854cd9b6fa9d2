// Streams of the ops with per-sequence state: causal_conv1d, gdn, paged_attention.
#pragma once

#include <cmath>

#include "device/stream.h"
#include "ops/ops.h"

namespace pagoda::test {

using device::Tensor;

class ConvStream final : public Stream {
 public:
  ConvStream(const std::string& device, int threads) : rig_(device, threads) {
    Random random(11);
    x_ = random.normal(kTokens * kChannels);
    weight_ = rig_.floats(random.normal(kChannels * 4), {4, kChannels});
    tail_ = rig_.zeros(DType::f32, {3, 3 + device::kMaxDrafts, kChannels});
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    const Batch batch = batch_of(begin, count, neighbour);
    const Tensor x = rows_with_neighbour(rig_, noise_, x_, kChannels, begin, count, neighbour, num_wrong);
    const Tensor out = rig_.zeros(DType::f32, {neighbour + count, kChannels});
    CHECK_OK(ops::causal_conv1d(rig_.encoder(), {x, weight_, tail_, sequences_at_slot_2(rig_, batch, 16, 8), out}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, neighbour + count);
  }
  Bytes state() override { return slot_2(rig_, tail_); }

 private:
  static constexpr int64_t kChannels = 290;
  Rig rig_;
  Random noise_{12};
  std::vector<float> x_;
  Tensor weight_, tail_;
};

class GdnStream final : public Stream {
 public:
  GdnStream(const std::string& device, int threads, int64_t dk, int64_t dv, DType state = DType::f32,
            int64_t v_heads = 4)
      : rig_(device, threads), dk_(dk), dv_(dv), v_heads_(v_heads) {
    Random random(21);
    qkv_ = random.normal(kTokens * width());
    ab_ = random.normal(kTokens * 2 * v_heads_);
    a_log_ = rig_.floats(random.normal(v_heads_), {v_heads_});
    dt_bias_ = rig_.floats(std::vector<float>(v_heads_, -3.0f), {v_heads_});
    state_ = rig_.zeros(state, {3, v_heads_, dk, dv});
    k_rows_ = rig_.zeros(DType::f32, {3, kKHeads, 16, dk});
    u_rows_ = rig_.zeros(DType::f32, {3, v_heads_, 16, dv});
    g_rows_ = rig_.zeros(DType::f32, {3, v_heads_, 16});
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    using device::slice, device::split_last;
    const int64_t keys = kKHeads * dk_;
    const Tensor qkv = rows_with_neighbour(rig_, noise_, qkv_, width(), begin, count, neighbour, num_wrong);
    const Tensor ab = rows_with_neighbour(rig_, noise_, ab_, 2 * v_heads_, begin, count, neighbour, num_wrong);
    const Tensor out = rig_.zeros(DType::f32, {neighbour + count, v_heads_, dv_});
    CHECK_OK(ops::gdn(
        rig_.encoder(),
        {split_last(slice(qkv, 1, 0, keys), kKHeads, dk_), split_last(slice(qkv, 1, keys, keys), kKHeads, dk_),
         split_last(slice(qkv, 1, 2 * keys, v_heads_ * dv_), v_heads_, dv_), slice(ab, 1, 0, v_heads_),
         slice(ab, 1, v_heads_, v_heads_), a_log_, dt_bias_,
         sequences_at_slot_2(rig_, batch_of(begin, count, neighbour), 16, 8), state_, k_rows_, u_rows_, g_rows_, out}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, neighbour + count);
  }
  Bytes state() override {
    Bytes all;
    for (const Tensor& t : {state_, k_rows_, u_rows_, g_rows_}) {
      const Bytes part = slot_2(rig_, t);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  static constexpr int64_t kKHeads = 2;
  int64_t width() const { return 2 * kKHeads * dk_ + v_heads_ * dv_; }
  Rig rig_;
  Random noise_{22};
  int64_t dk_, dv_, v_heads_;
  std::vector<float> qkv_, ab_;
  Tensor a_log_, dt_bias_, state_, k_rows_, u_rows_, g_rows_;
};

class AttentionStream final : public Stream {
 public:
  // A softcap implies sinks.
  AttentionStream(const std::string& device, int threads, DType type, int64_t dim, int32_t window, float softcap = 0)
      : rig_(device, threads), dim_(dim), window_(window), softcap_(softcap) {
    if (softcap > 0) sinks_ = rig_.floats(Random(30).normal(kHeads, 5.0f), {kHeads});
    Random random(31);
    q_ = random.normal(kTokens * kHeads * dim);
    kv_ = random.normal(kTokens * 2 * kKvHeads * dim);
    k_cache_ = rig_.kv_cache(type, 20, 8, kKvHeads, dim);
    v_cache_ = rig_.kv_cache(type, 20, 8, kKvHeads, dim);
  }
  Bytes step(int64_t begin, int64_t count, int64_t neighbour) override {
    // Sequence 0 (the neighbour) has the even blocks, the sequence under test the odd ones.
    const int64_t rows = neighbour + count, half = kKvHeads * dim_;
    const Tensor kv = rows_with_neighbour(rig_, noise_, kv_, 2 * half, begin, count, neighbour, num_wrong);
    const Tensor q = rows_with_neighbour(rig_, noise_, q_, kHeads * dim_, begin, count, neighbour, num_wrong);
    std::vector<int64_t> slots;
    for (int64_t i = 0; i < neighbour; ++i) slots.push_back(i / 8 * 16 + i % 8);
    for (int64_t i = begin; i < begin + count; ++i) slots.push_back(i / 8 * 16 + 8 + i % 8);
    CHECK_OK(ops::reshape_and_cache(
        rig_.encoder(),
        {device::split_last(device::slice(kv, 1, 0, half), kKvHeads, dim_),
         device::split_last(device::slice(kv, 1, half, half), kKvHeads, dim_), rig_.longs(slots), k_cache_, v_cache_}));
    device::SequenceArgs s = make_sequences(rig_, batch_of(begin, count, neighbour), 8, 10);
    std::vector<int32_t> tables;
    for (int32_t b = neighbour > 0 ? 0 : 1; b < 2; ++b)
      for (int32_t i = 0; i < 10; ++i) tables.push_back(2 * i + b);
    s.block_tables = rig_.ints(tables, {static_cast<int64_t>(tables.size() / 10), 10});
    const Tensor out = rig_.zeros(DType::f32, {rows, kHeads, dim_});
    CHECK_OK(ops::paged_attention(rig_.encoder(),
                                  {device::split_last(q, kHeads, dim_), k_cache_, v_cache_, s,
                                   1.0f / std::sqrt(static_cast<float>(dim_)), window_, out, softcap_, sinks_}));
    CHECK_OK(rig_.finish());
    return last_rows(rig_.bytes(out), count, rows);
  }
  Bytes state() override { return {}; }

 private:
  static constexpr int64_t kHeads = 6, kKvHeads = 2;
  Rig rig_;
  Random noise_{32};
  int64_t dim_;
  int32_t window_;
  float softcap_;
  std::vector<float> q_, kv_;
  Tensor sinks_, k_cache_, v_cache_;
};

}  // namespace pagoda::test
