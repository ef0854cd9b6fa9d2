// ModelRunner: loads a model and feeds it sequences, in any chunks and batches, through scattered blocks and slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "device/registry.h"
#include "io/model_files.h"
#include "model/model.h"
#include "model/weights/tied_head.h"
#include "support/test.h"

namespace pagoda::test {

// Whether there are logits, and as many with the same bits.
inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

struct RunnerOptions {
  std::string device = "cpu";
  std::string dtype = "auto";
  std::string quantize = "none";
  std::string kv_dtype = "auto";
  std::string state_dtype = "float32";
  int32_t block_size = 16;
  int32_t max_tokens = 1024;
  int32_t max_seqs = 8;
  int32_t max_context = 800;
  int32_t max_state_saves = 0;
  int64_t adapter_bytes = 0;
  int64_t expert_memory_bytes = 0;
};

struct OpenedModel {  // a folder's configuration and headers
  std::unique_ptr<io::ModelFiles> files;
  io::ModelConfig config;
  std::unique_ptr<io::Checkpoint> checkpoint;
};

inline Result<OpenedModel> open_model(const ModelSource& source) {
  OpenedModel opened;
  auto files = io::open_model_files(source);
  if (!files.is_ok()) return files.status;
  opened.files = std::move(*files);
  auto text = opened.files->read_text("config.json", 1 << 20);
  if (!text.is_ok()) return text.status;
  auto config = io::parse_model_config(*text, "config.json");
  if (!config.is_ok()) return config.status;
  opened.config = *config;
  auto checkpoint = io::Checkpoint::open(*opened.files);
  if (!checkpoint.is_ok()) return checkpoint.status;
  opened.checkpoint = std::make_unique<io::Checkpoint>(std::move(*checkpoint));
  PAGODA_RETURN_IF_ERROR(model::untie_different_head(*opened.checkpoint, opened.config));
  return opened;
}

inline ModelSource folder(const std::string& path) { return {.directory = path, .files = {}}; }

class ModelRunner {
 public:
  struct Sequence {
    std::vector<int32_t> blocks;
    int32_t slot = -1;
    int32_t length = 0;  // tokens in the cache
    int32_t adapter = -1;
  };
  struct Chunk {  // tokens that a sequence adds in one step
    Sequence* sequence;
    std::span<const int32_t> tokens;
    bool wants_all_logits = false;  // else those of the last token
  };

  static Result<std::unique_ptr<ModelRunner>> load(const ModelSource& source, const RunnerOptions& options) {
    auto opened = open_model(source);
    if (!opened.is_ok()) return opened.status;
    auto device = device::make_device(options.device, 2);
    if (!device.is_ok()) return device.status;
    auto runner = std::make_unique<ModelRunner>();
    runner->config_ = opened->config;
    runner->block_size_ = options.block_size;
    runner->device_ = std::move(*device);
    auto dtype = model::choose_dtype(options.dtype, opened->config, *opened->checkpoint);
    if (!dtype.is_ok()) return dtype.status;
    auto kv_dtype = model::choose_kv_dtype(options.kv_dtype, *dtype);
    if (!kv_dtype.is_ok()) return kv_dtype.status;
    auto state_dtype = model::choose_state_dtype(options.state_dtype);
    if (!state_dtype.is_ok()) return state_dtype.status;
    auto format = model::choose_format(options.quantize, *dtype, *opened->checkpoint);
    if (!format.is_ok()) return format.status;
    auto loaded =
        model::load_model(opened->config, *opened->checkpoint, *runner->device_, *format, {*kv_dtype, *state_dtype},
                          options.block_size, nullptr, nullptr, options.expert_memory_bytes);
    if (!loaded.is_ok()) return loaded.status;
    runner->model_ = std::move(*loaded);
    const int32_t blocks_per_seq = (options.max_context + options.block_size - 1) / options.block_size;
    runner->sizes_ = {.num_kv_blocks = int64_t{blocks_per_seq} * options.max_seqs,
                      .num_state_slots = options.max_seqs,
                      .max_num_tokens = options.max_tokens,
                      .max_num_seqs = options.max_seqs,
                      .max_logits_rows = options.max_tokens,
                      .max_blocks_per_seq = blocks_per_seq,
                      .block_size = options.block_size,
                      .max_state_saves = options.max_state_saves,
                      .adapter_bytes = options.adapter_bytes};
    PAGODA_RETURN_IF_ERROR(runner->model_->allocate(runner->sizes_));
    runner->reset();
    return runner;
  }

  // Removes every sequence. Blocks and slots are freed in a different order each time, with their old contents.
  void reset() {
    free_blocks_.resize(static_cast<size_t>(sizes_.num_kv_blocks));
    free_slots_.resize(static_cast<size_t>(sizes_.num_state_slots));
    std::iota(free_blocks_.begin(), free_blocks_.end(), 0);
    std::iota(free_slots_.begin(), free_slots_.end(), 0);
    std::shuffle(free_blocks_.begin(), free_blocks_.end(), random_);
    std::shuffle(free_slots_.begin(), free_slots_.end(), random_);
  }

  int32_t take_slot() { return take(free_slots_); }
  int32_t take_block() { return take(free_blocks_); }
  void give_back(const Sequence& sequence) {
    free_blocks_.insert(free_blocks_.end(), sequence.blocks.begin(), sequence.blocks.end());
    free_slots_.push_back(sequence.slot);
  }

  model::ForwardBatch make_batch(std::span<const Chunk> chunks) {
    model::ForwardBatch batch;
    batch.cu_seqlens.push_back(0);
    for (const Chunk& chunk : chunks) add(batch, chunk);
    if (std::ranges::all_of(batch.adapters, [](int32_t slot) { return slot < 0; })) batch.adapters.clear();
    return batch;
  }

  // Logits of the requested rows, in the order of the chunks; empty if the step failed.
  std::span<const float> step(std::span<const Chunk> chunks) {
    Status status = model_->forward(make_batch(chunks));
    if (!status.is_ok()) fail(__FILE__, __LINE__, "forward: " + status.message);
    return model_->logits();
  }

  int32_t argmax(std::span<const float> logits, size_t row) const {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row) * config_.vocab_size;
    return static_cast<int32_t>(std::max_element(begin, begin + config_.vocab_size) - begin);
  }

  model::Model& model() { return *model_; }
  device::Device& device() { return *device_; }
  const io::ModelConfig& config() const { return config_; }
  const EngineLimits& sizes() const { return sizes_; }

 private:
  static int32_t take(std::vector<int32_t>& ids) {
    const int32_t id = ids.back();
    ids.pop_back();
    return id;
  }

  void add(model::ForwardBatch& batch, const Chunk& chunk) {
    Sequence& s = *chunk.sequence;
    const bool has_state = model::cache_layout(config_, DType::f32, block_size_).has_state();
    if (s.length == 0 && has_state) batch.fresh_slots.push_back(s.slot = take_slot());
    for (size_t i = 0; i < chunk.tokens.size(); ++i, ++s.length) {
      if (s.length % block_size_ == 0) s.blocks.push_back(take_block());
      if (chunk.wants_all_logits || i + 1 == chunk.tokens.size()) batch.logits_rows.push_back(batch.num_tokens());
      batch.token_ids.push_back(chunk.tokens[i]);
      batch.positions.push_back(s.length);
      batch.adapters.push_back(s.adapter);
      batch.slot_mapping.push_back(int64_t{s.blocks.back()} * block_size_ + s.length % block_size_);
    }
    batch.cu_seqlens.push_back(batch.num_tokens());
    batch.context_lens.push_back(s.length);
    if (has_state) batch.state_slots.push_back(s.slot);
    batch.block_tables.insert(batch.block_tables.end(), s.blocks.begin(), s.blocks.end());
    batch.block_tables.resize(static_cast<size_t>(batch.num_seqs()) * static_cast<size_t>(sizes_.max_blocks_per_seq),
                              -1);
  }

  io::ModelConfig config_;
  int32_t block_size_ = 16;
  std::unique_ptr<device::Device> device_;  // outlives the model
  std::unique_ptr<model::Model> model_;
  EngineLimits sizes_;
  std::vector<int32_t> free_blocks_, free_slots_;
  std::mt19937 random_{7};
};

// Logits of every token of `prompt`, alone, in chunks of at most `chunk` tokens.
inline std::vector<float> logits_of(ModelRunner& runner, std::span<const int32_t> prompt, size_t chunk) {
  runner.reset();
  ModelRunner::Sequence sequence;
  std::vector<float> all;
  for (size_t begin = 0; begin < prompt.size(); begin += chunk) {
    const auto tokens = prompt.subspan(begin, std::min(chunk, prompt.size() - begin));
    const ModelRunner::Chunk step{&sequence, tokens, true};
    const auto logits = runner.step({&step, 1});
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

// Greedy continuations of all prompts concurrently, `chunk` prompt tokens per sequence and step; each ends after
// `count` tokens or with `eos`. A sequence that has read its prompt decodes while others still read theirs.
inline std::vector<std::vector<int32_t>> greedy(ModelRunner& runner, const std::vector<std::vector<int32_t>>& prompts,
                                                size_t count, size_t chunk, int32_t eos = -1) {
  runner.reset();
  std::vector<ModelRunner::Sequence> sequences(prompts.size());
  std::vector<std::vector<int32_t>> tokens = prompts;
  const auto is_done = [&](size_t i) {
    return tokens[i].size() == prompts[i].size() + count ||
           (tokens[i].size() > prompts[i].size() && tokens[i].back() == eos);
  };
  for (;;) {
    std::vector<ModelRunner::Chunk> chunks;
    std::vector<size_t> owners;
    for (size_t i = 0; i < prompts.size(); ++i) {
      if (is_done(i)) continue;
      const auto rest = std::span<const int32_t>(tokens[i]).subspan(static_cast<size_t>(sequences[i].length));
      chunks.push_back({&sequences[i], rest.subspan(0, std::min(chunk, rest.size()))});
      owners.push_back(i);
    }
    if (chunks.empty()) break;
    const auto logits = runner.step(chunks);
    if (logits.empty()) break;
    for (size_t row = 0; row < owners.size(); ++row) {
      const size_t i = owners[row];
      if (static_cast<size_t>(sequences[i].length) == tokens[i].size()) tokens[i].push_back(runner.argmax(logits, row));
    }
  }
  for (size_t i = 0; i < prompts.size(); ++i)
    tokens[i].erase(tokens[i].begin(), tokens[i].begin() + static_cast<std::ptrdiff_t>(prompts[i].size()));
  return tokens;
}

}  // namespace pagoda::test
