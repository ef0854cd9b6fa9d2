// cache: blocks and slots are counted exactly, never allocated twice, and freed when their last holder releases them.
#include <set>
#include <vector>

#include "cache/block_manager.h"
#include "cache/cache_layout.h"
#include "cache/state_pool.h"
#include "support/test.h"

namespace pagoda::cache {

PAGODA_TEST(cache_grow_takes_only_the_missing_blocks) {
  BlockManager blocks(8, 16);
  std::vector<int32_t> table;
  CHECK(blocks.grow(table, 17));
  CHECK_EQ(table.size(), 2u);
  CHECK(blocks.grow(table, 32));
  CHECK_EQ(table.size(), 2u);
  CHECK(blocks.grow(table, 33));
  CHECK_EQ(table.size(), 3u);
  CHECK_EQ(blocks.num_free(), 5);
}

PAGODA_TEST(cache_grow_changes_nothing_when_blocks_are_short) {
  BlockManager blocks(3, 8);
  std::vector<int32_t> first, second;
  CHECK(blocks.grow(first, 16));
  CHECK(!blocks.grow(second, 9));
  CHECK(second.empty());
  CHECK_EQ(blocks.num_free(), 1);
}

PAGODA_TEST(cache_blocks_are_never_handed_out_twice) {
  BlockManager blocks(64, 8);
  std::vector<int32_t> tables[4];
  std::set<int32_t> seen;
  for (auto& table : tables) CHECK(blocks.grow(table, 128));
  for (const auto& table : tables)
    for (int32_t block : table) CHECK(seen.insert(block).second && blocks.ref_count(block) == 1);
  CHECK_EQ(blocks.num_free(), 0);
}

PAGODA_TEST(cache_a_shared_block_is_free_only_when_its_last_holder_lets_go) {
  BlockManager blocks(4, 16);
  std::vector<int32_t> owner;
  CHECK(blocks.grow(owner, 32));
  std::vector<int32_t> other = owner;
  blocks.share(other);
  CHECK_EQ(blocks.ref_count(owner[0]), 2);
  blocks.release(owner);
  CHECK(owner.empty());
  CHECK_EQ(blocks.num_free(), 2);
  blocks.release(other);
  CHECK_EQ(blocks.num_free(), 4);
}

PAGODA_TEST(cache_state_pool_gives_each_slot_once) {
  StatePool pool(3);
  std::set<int32_t> slots;
  for (int i = 0; i < 3; ++i) slots.insert(pool.acquire());
  CHECK_EQ(slots.size(), 3u);
  CHECK_EQ(pool.acquire(), -1);
  pool.release(*slots.begin());
  CHECK(!pool.is_in_use(*slots.begin()));
  CHECK_EQ(pool.acquire(), *slots.begin());
}

PAGODA_TEST(cache_bytes_of_the_published_shapes_are_exact) {
  CacheLayout
      layout;  // Qwen3.5 0.8B: 6 attention layers of 2 KV heads x 256, 18 recurrent ones of 16 heads x 128 x 128
  layout.num_attention_layers = 6;
  layout.num_kv_heads = 2;
  layout.head_dim = 256;
  layout.kv_dtype = DType::bf16;
  layout.num_recurrent_layers = 18;
  layout.num_k_heads = layout.num_v_heads = 16;
  layout.k_head_dim = layout.v_head_dim = 128;
  layout.conv_channels = 3 * 2048;
  layout.conv_kernel = 4;
  layout.max_drafts = 7;
  CHECK_EQ(layout.kv_block_bytes() / 16, 12 * 1024);  // 12 KiB per token
  const int64_t state = 4 * 16 * 128 * 128, rows = 4 * 16 * (2048 + 2048 + 16), tail = 4 * 10 * 6144;
  CHECK_EQ(layout.state_slot_bytes(), 18 * (state + rows + tail));
  layout.state_dtype = DType::bf16;
  CHECK_EQ(layout.state_slot_bytes(), 18 * (state / 2 + rows + tail));
  layout.state_dtype = DType::f32;
  layout.kv_dtype = DType::f32;
  CHECK_EQ(layout.kv_block_bytes() / 16, 24 * 1024);
  layout.kv_dtype = DType::i8;
  CHECK_EQ(layout.kv_block_bytes() / 16, 6 * 2 * 2 * (256 + 16));  // a scale, and padding to align rows to 16 bytes
}

}  // namespace pagoda::cache
