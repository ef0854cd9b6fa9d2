// A token's rotations, caching and attention in one launch: the same bits as separate ops.
#include <algorithm>
#include <cmath>

#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using device::slice;
using device::split_last;
using device::Tensor;

struct Heads {
  DType type;
  int64_t heads, kv_heads, dim, block_size;
  bool has_norm = true;
  int32_t window = 0;
  float softcap = 0;
  bool has_sinks = false;
};

struct Results {
  std::vector<std::byte> out, k_cache, v_cache;
  int64_t launches = 0;
};

// A cache with random rows before each sequence's new ones, and NaN from there on.
Tensor filled_cache(Rig& rig, Random& random, const Heads& s, const Batch& batch, int64_t max_blocks) {
  const int64_t n = batch.num_sequences(), num_slots = n * max_blocks * s.block_size, width = s.kv_heads * s.dim;
  std::vector<float> rows = random.normal(num_slots * width);
  std::vector<int64_t> slots;
  for (int64_t slot = 0; slot < num_slots; ++slot) {
    const int64_t block = slot / s.block_size, position = block / n * s.block_size + slot % s.block_size;
    slots.push_back(slot);
    if (position >= batch.cached[block % n])
      std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(slot * width), width, std::nanf(""));
  }
  const Tensor cache = rig.kv_cache(s.type, n * max_blocks, s.block_size, s.kv_heads, s.dim);
  const Tensor x = rig.floats(rows, {num_slots, s.kv_heads, s.dim});
  const Tensor other = rig.kv_cache(s.type, n * max_blocks, s.block_size, s.kv_heads, s.dim);
  CHECK_OK(ops::reshape_and_cache(rig.encoder(), {x, x, rig.longs(slots), cache, other}));
  CHECK_OK(rig.finish());
  return cache;
}

// The slots and positions of the batch's new rows, with blocks as make_sequences() gives them.
void add_rows(const Batch& batch, int64_t block_size, std::vector<int64_t>& slots, std::vector<int32_t>& positions) {
  for (int64_t b = 0; b < batch.num_sequences(); ++b)
    for (int64_t p = batch.cached[b]; p < batch.cached[b] + batch.rows[b]; ++p) {
      slots.push_back((p / block_size * batch.num_sequences() + b) * block_size + p % block_size);
      positions.push_back(static_cast<int32_t>(p));
    }
}

// fused: nothing comes between the ops, so a device may run them in one launch.
Results attend(const Heads& s, const Batch& batch, int64_t max_context, bool fused) {
  Rig rig("software");
  Random random(seed(94));
  const int64_t t = batch.num_rows(), max_blocks = max_context / s.block_size;
  const Tensor k_cache = filled_cache(rig, random, s, batch, max_blocks);
  const Tensor v_cache = filled_cache(rig, random, s, batch, max_blocks);
  // Per head [q | gate], then all k, then all v: as a layer projects them.
  const int64_t q_width = s.heads * 2 * s.dim, kv_width = s.kv_heads * s.dim, width = q_width + 2 * kv_width;
  const Tensor all = rig.floats(random.normal(t * width), {t, width});
  const Tensor q = slice(split_last(slice(all, 1, 0, q_width), s.heads, 2 * s.dim), 2, 0, s.dim);
  const Tensor k = split_last(slice(all, 1, q_width, kv_width), s.kv_heads, s.dim);
  const Tensor v = split_last(slice(all, 1, q_width + kv_width, kv_width), s.kv_heads, s.dim);
  std::vector<int64_t> slots;
  std::vector<int32_t> positions;
  add_rows(batch, s.block_size, slots, positions);
  std::vector<float> inv_freq, logits = random.normal(s.heads, 5.0f);
  for (int64_t i = 0; i < s.dim / 4; ++i) inv_freq.push_back(std::pow(1e4f, -4.0f * static_cast<float>(i) / s.dim));
  logits.front() = -200;
  logits.back() = 200;
  const Tensor at = rig.ints(positions), speeds = rig.floats(inv_freq, {s.dim / 4}), slot_mapping = rig.longs(slots);
  const Tensor sinks = s.has_sinks ? rig.floats(logits, {s.heads}) : Tensor{};
  const Tensor out = rig.zeros(DType::f32, {t, s.heads, s.dim});
  const device::SequenceArgs sequences = make_sequences(rig, batch, s.block_size, max_blocks);
  Tensor weights[2];
  if (s.has_norm)
    for (Tensor& weight : weights) weight = rig.floats(random.normal(s.dim, 0.1f), {s.dim});

  rig.device().set_profiling(true);
  const Tensor heads[2] = {q, k};
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(ops::qk_norm_rope(rig.encoder(), {heads[i], weights[i], 1e-6f, 1.0f, at, speeds, heads[i]}));
    if (!fused) CHECK_OK(rig.finish());
  }
  CHECK_OK(ops::reshape_and_cache(rig.encoder(), {k, v, slot_mapping, k_cache, v_cache}));
  if (!fused) CHECK_OK(rig.finish());
  const float scale = 1.0f / std::sqrt(static_cast<float>(s.dim));
  CHECK_OK(
      ops::paged_attention(rig.encoder(), {q, k_cache, v_cache, sequences, scale, s.window, out, s.softcap, sinks}));
  CHECK_OK(rig.finish());
  Results results{rig.bytes(out), rig.bytes(whole_rows(k_cache)), rig.bytes(whole_rows(v_cache))};
  for (const device::OpTime& op : rig.device().take_profile())
    if (op.name != "step") results.launches += op.calls;
  return results;
}

// `together`: launches of all ops if nothing comes between them.
void compare_ops(const Heads& s, const Batch& batch, int64_t max_context, int64_t together) {
  const std::string name = std::to_string(static_cast<int>(s.type)) + ": " + std::to_string(s.heads) + " heads of " +
                           std::to_string(s.dim) + ", window " + std::to_string(s.window);
  const Results fused = attend(s, batch, max_context, true), apart = attend(s, batch, max_context, false);
  if (fused.out != apart.out) fail(__FILE__, __LINE__, name + ": other bits than one by one");
  if (fused.k_cache != apart.k_cache || fused.v_cache != apart.v_cache)
    fail(__FILE__, __LINE__, name + ": another cache than one by one");
  CHECK_EQ(fused.launches, together);
  CHECK_EQ(apart.launches, max_context > 256 ? 5 : 4);
}

}  // namespace

// The last sequence fills its block table row.
PAGODA_TEST(gpu_token_attention_gives_the_bits_of_single_ops) {
  const Batch within{{0, 70, 31, 95}, {1, 1, 1, 1}};
  compare_ops({DType::f32, 4, 2, 16, 8}, within, 96, 1);
  compare_ops({DType::bf16, 8, 2, 32, 16, false}, within, 96, 1);
  compare_ops({DType::f16, 3, 3, 24, 8, true, 40, 1.5f, true}, within, 96, 1);
  compare_ops({DType::bf16, 2, 1, 256, 32}, {{33}, {1}}, 96, 1);
  compare_ops({DType::i8, 8, 2, 40, 16}, within, 96, 1);
  compare_ops({DType::i8, 2, 2, 256, 8, false, 40, 1.5f, true}, within, 96, 1);
}

// Partitions are merged in a separate launch; only the last one's threadgroup has the new key.
PAGODA_TEST(gpu_token_attention_gives_the_bits_of_single_ops_over_partitions) {
  const Batch over{{5, 255, 256, 511, 700, 1103}, {1, 1, 1, 1, 1, 1}};
  compare_ops({DType::bf16, 8, 1, 32, 16}, over, 1104, 2);
  compare_ops({DType::f32, 5, 1, 16, 8, false, 300, 0, true}, over, 1104, 2);
  compare_ops({DType::i8, 3, 1, 64, 16, true, 300}, over, 1104, 2);
}

// Nine heads that share a KV head are two threadgroups, both of which would write the key; prompts have more tokens.
PAGODA_TEST(gpu_token_attention_leaves_other_batches_alone) {
  compare_ops({DType::bf16, 9, 1, 16, 16}, {{0, 31}, {1, 1}}, 96, 2);
  compare_ops({DType::bf16, 4, 1, 16, 16}, {{3, 31}, {4, 1}}, 96, 2);
}

}  // namespace pagoda::test
