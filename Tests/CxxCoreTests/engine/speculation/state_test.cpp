// After any number of tokens, a speculating run keeps exactly the same data for a sequence as a plain run: KV
// rows including the MTP head's, recurrent state, rows since the last block, inputs of the convolution, hidden state.
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "engine/model_harness.h"
#include "engine/speculation/drafters.h"
#include "model/model_runner.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::Habit;
using test::ModelHarness;
using test::Recorder;
using test::TestDrafter;
using Bytes = std::vector<std::byte>;

// The parts of a slot that a sequence of `num_tokens` tokens will read.
class LiveState {
 public:
  LiveState(const cache::CacheLayout& layout, int64_t num_tokens, const Bytes& slot) : slot_(slot) {
    const int64_t rows = num_tokens % layout.anchor_rows, block = layout.anchor_rows;
    for (int32_t i = 0; i < layout.num_recurrent_layers; ++i) {
      take(int64_t{layout.num_v_heads} * layout.k_head_dim * layout.v_head_dim, 1, 1, 0, 1);
      take(layout.k_head_dim, block, layout.num_k_heads, 0, rows);
      take(layout.v_head_dim, block, layout.num_v_heads, 0, rows);
      take(1, block, layout.num_v_heads, 0, rows);
      take_ring(layout.conv_channels, layout.conv_rows(), num_tokens, layout.conv_kernel - 1);
    }
    if (layout.num_head_layers > 0) take_ring(layout.hidden_size, layout.hidden_rows(), num_tokens, 1);
    CHECK_EQ(at_, slot.size());
  }
  Bytes bytes;

 private:
  // Of `count` times `rows` rows of `width` numbers, the rows [first, last).
  void take(int64_t width, int64_t rows, int64_t count, int64_t first, int64_t last) {
    for (int64_t i = 0; i < count * rows; ++i) {
      const size_t size = static_cast<size_t>(width) * sizeof(float);
      const auto begin = slot_.begin() + static_cast<std::ptrdiff_t>(at_);
      if (i % rows >= first && i % rows < last)
        bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
      at_ += size;
    }
  }
  void take_ring(int64_t width, int64_t rows, int64_t num_tokens, int64_t back) {
    const size_t begin = at_;
    take(width, rows, 1, 0, 0);
    for (int64_t p = std::max<int64_t>(0, num_tokens - back); p < num_tokens; ++p) {
      const size_t size = static_cast<size_t>(width) * sizeof(float);
      const auto from = slot_.begin() + static_cast<std::ptrdiff_t>(begin + static_cast<size_t>(p % rows) * size);
      bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(size));
    }
  }

  const Bytes& slot_;
  size_t at_ = 0;
};

// Records the model's data for the only sequence each time drafts are requested.
class Photographer final : public speculate::Drafter {
 public:
  Photographer(const cache::CacheLayout& layout, std::shared_ptr<TestDrafter> inner)
      : layout_(layout), inner_(std::move(inner)) {}

  void propose(const request::Sequence& sequence, int32_t max_drafts, std::vector<int32_t>& drafts) override {
    const int32_t n = sequence.num_computed_tokens;
    Bytes& all = photographs[n];
    for (int32_t begin = 0; begin < n; begin += layout_.block_size) {
      Bytes block(static_cast<size_t>(layout_.kv_block_bytes()));
      const int32_t id = sequence.block_table[static_cast<size_t>(begin / layout_.block_size)];
      CHECK_OK(model->read_block(id, n - begin, block));
      all.insert(all.end(), block.begin(), block.end());
    }
    Bytes slot(static_cast<size_t>(layout_.state_slot_bytes()));
    CHECK_OK(model->read_slot(sequence.state_slot, slot));
    const Bytes live = LiveState(layout_, n, slot).bytes;
    all.insert(all.end(), live.begin(), live.end());
    if (inner_) inner_->propose(sequence, max_drafts, drafts);
  }

  model::Model* model = nullptr;
  std::map<int32_t, Bytes> photographs;  // by number of tokens computed

 private:
  cache::CacheLayout layout_;
  std::shared_ptr<TestDrafter> inner_;
};

struct Run {
  std::shared_ptr<Photographer> photographer;
  Recorder recorder;
};

std::unique_ptr<Run> run(const std::string& folder, const Request& request, const cache::CacheLayout& layout,
                         std::shared_ptr<TestDrafter> drafter, const std::string& device) {
  auto run = std::make_unique<Run>();
  run->photographer = std::make_shared<Photographer>(layout, std::move(drafter));
  EngineOptions options;
  options.device = device;
  options.quantize = "none";
  options.max_model_len = 256;
  options.speculation = "mtp";
  options.block_size = layout.block_size;
  auto harness = ModelHarness::open(folder, options, run->photographer);
  if (!harness) return run;
  CHECK(harness->loaded.model->has_head());
  run->photographer->model = harness->loaded.model.get();
  CHECK(harness->add(request, 1, run->recorder));
  while (harness->core->has_work()) harness->core->step();
  return run;
}

void check_states(const std::string& device, int32_t num_tokens) {
  const std::string folder = test::fixtures_dir() + "/model/qwen3_5_vision";
  auto opened = test::open_model(test::folder(folder));
  REQUIRE_OK(opened);
  model::find_mtp_head(opened->config, *opened->checkpoint, true);
  const auto dtype = model::choose_dtype("auto", opened->config, *opened->checkpoint);
  REQUIRE_OK(dtype);
  const cache::CacheLayout layout = model::cache_layout(opened->config, *dtype, 8);
  Request request;
  for (int i = 0; i < 19; ++i) request.prompt_ids.push_back(i * 7 % 100);
  request.sampling.max_tokens = num_tokens;
  request.sampling.ignore_eos = true;
  const auto plain = run(folder, request, layout, nullptr, device);
  // If no draft is possible, none is requested.
  CHECK(plain->photographer->photographs.size() > static_cast<size_t>(num_tokens) * 8 / 10);
  for (const Habit habit : {Habit::oracle, Habit::liar, Habit::border, Habit::random}) {
    auto drafter = std::make_shared<TestDrafter>(habit, test::seed(80));
    drafter->expect(1, request.prompt_ids, plain->recorder.tokens);
    const auto with = run(folder, request, layout, drafter, device);
    CHECK(with->recorder.tokens == plain->recorder.tokens);
    int num_compared = 0;
    for (const auto& [n, bytes] : with->photographer->photographs) {
      CHECK(bytes == plain->photographer->photographs[n]);
      ++num_compared;
    }
    CHECK(num_compared >= 4);
    if (test::failed()) return test::note(device + ", habit " + std::to_string(static_cast<int>(habit)));
  }
}

// One engine's answer to a prompt, with prefixes in files.
std::unique_ptr<Recorder> ask(const Request& request, const std::string& speculation, const std::string& disk) {
  auto recorder = std::make_unique<Recorder>();
  EngineOptions options;
  options.max_model_len = 256;
  options.prefix_cache_dir = disk;
  options.speculation = speculation;
  auto harness = ModelHarness::open(test::fixtures_dir() + "/model/qwen3_5_vision", options, nullptr, true);
  if (!harness) return recorder;
  CHECK(harness->add(request, 1, *recorder));
  while (harness->core->has_work()) harness->core->step();
  CHECK_EQ(harness->core->stats().speculation.num_drafted_tokens > 0, speculation != "off");
  return recorder;
}

}  // namespace

PAGODA_TEST(speculation_reads_the_prefixes_of_plain_runs_and_they_its_own) {
  for (const auto& [writer, reader] : {std::pair{"auto", "off"}, {"off", "auto"}, {"auto", "auto"}}) {
    const std::string disk = test::temporary_dir();
    Request request;
    for (int i = 0; i < 40; ++i) request.prompt_ids.push_back(i * 7 % 100);
    request.sampling.max_tokens = 40;
    request.sampling.ignore_eos = true;
    const auto first = ask(request, writer, disk);
    request.prompt_ids.insert(request.prompt_ids.end(), first->tokens.begin(), first->tokens.end());
    request.prompt_ids.push_back(5);
    const auto found = ask(request, reader, disk), alone = ask(request, "off", test::temporary_dir());
    CHECK(found->usage.cached_tokens >= 79);
    CHECK_EQ(alone->usage.cached_tokens, 0);
    CHECK(found->tokens == alone->tokens);
  }
}

PAGODA_TEST(speculation_leaves_the_state_of_a_plain_run) { check_states("cpu", 70); }
PAGODA_TEST(speculation_leaves_the_state_of_a_plain_run_in_the_kernels) { check_states("software", 45); }

}  // namespace pagoda::engine
