// Model: weights and the order of ops that turns a ForwardBatch into logits. Knows no scheduler and no concrete device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/cache_layout.h"
#include "device/device.h"
#include "device/trial/tensor_trial.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "model/adapters/image.h"
#include "model/adapters/layout.h"
#include "model/forward_batch.h"
#include "pagoda/engine_limits.h"
#include "pagoda/expert_stats.h"
#include "pagoda/model_info.h"

namespace pagoda::model {

struct WeightsSummary {
  int64_t num_parameters = 0;
  int64_t size_bytes = 0;                    // on the device
  MatrixSum layer_matrices, head_matrix;     // see ModelInfo
  std::vector<std::string> skipped_tensors;  // present in the files, not used
  // Bytes of each layer's weights that a token reads, and bytes that the layer takes on the device.
  std::vector<int64_t> layer_read_bytes, layer_bytes;
  std::vector<FormatSum> formats;              // see ModelInfo
  std::vector<device::ProductShape> products;  // distinct shapes of a token's matmuls, except those of experts
  // Of the experts of mixtures: all bytes, those that a token is multiplied with, and the sizes of one's matrices.
  int64_t expert_bytes = 0, expert_token_bytes = 0;
  std::set<int64_t> expert_sizes;
};

struct WeightBytes {
  int64_t size = 0;   // WeightsSummary::size_bytes
  int64_t token = 0;  // of layer_matrices and head_matrix
};

class Model {
 public:
  virtual ~Model() = default;

  // Runs one step and waits for it; the results of the next two functions are valid until the next call.
  virtual Status forward(const ForwardBatch& batch) = 0;
  // The logits of more rows of the last forward(), whose batch must have had keeps_states: at most max_logits_rows
  // at a time. They replace the previous ones; picked() is empty.
  virtual Status project(std::span<const int32_t> rows) {
    return make_error(StatusCode::unsupported, "the model has no logits after its step");
  }
  // A part of a model (ModelConfig::is_part()): its layers over the rows of a step. `in`, [T, hidden], is the output of
  // the previous part; the first part has none and embeds the tokens. `out` is also [T, hidden].
  virtual Status run_layers(const ForwardBatch& batch, std::span<const float> in, std::span<float> out) {
    return make_error(StatusCode::unsupported, "the model is not a part of one");
  }
  // Only in the first part: takes the last part's rows as the states of a step, so that project() can compute logits.
  virtual Status take_states(std::span<const float> rows) {
    return make_error(StatusCode::unsupported, "the model is not a part of one");
  }

  // forward() in two calls: launch() starts a step and finish() waits for it. If launch() fails, finish() must not be
  // called. A model on several machines starts a step while others are in flight. Steps end in the order in which they
  // started; after finish() the results are those of the oldest, as after forward(). A failed step ends all of them.
  virtual int32_t max_in_flight() const noexcept { return 1; }
  // Whether the step runs asynchronously to the host after launch().
  virtual bool launches_early() const noexcept { return false; }
  virtual Status launch(const ForwardBatch& batch) { return forward(batch); }
  virtual Status finish() { return ok_status(); }
  // Any thread may call these: why no step can run at present, and how often all caches have been lost.
  virtual Status ready() const { return ok_status(); }
  virtual uint64_t num_losses() const noexcept { return 0; }
  virtual void accept_losses(uint64_t num_losses) noexcept {}  // acknowledges that many: steps may start again

  // Whether read_state() works.
  virtual bool gives_states() const noexcept { return false; }
  // The state of a row of the last forward(), whose batch must have had keeps_states, after the last norm: hidden_size
  // values.
  virtual Status read_state(int32_t row, std::span<float> to) {
    return make_error(StatusCode::unsupported, "the model has no states after its step");
  }
  // Whether the model has an MTP head, for draft() and ForwardBatch::feeds_head.
  virtual bool has_head() const noexcept { return false; }
  // Runs the head on one row of each sequence of `batch`: the token after the sequence's end, or a draft after it. The
  // hidden states before the rows are those of the sequence's last tokens (`is_first`), or the outputs of rows
  // batch.previous_rows of the last call. logits() and picked() then describe the token after each row, over the first
  // draft_vocab_size() ids.
  virtual Status draft(const ForwardBatch& batch, bool is_first) {
    return make_error(StatusCode::unsupported, "the model has no MTP head");
  }

  virtual int32_t draft_vocab_size() const noexcept { return 0; }  // 0: all ids

  // Whether picked() has tokens, and draws may have edits and masks.
  virtual bool samples() const noexcept { return false; }
  // [R] the tokens sampled from rows whose logits are not needed, -1 if the sampler would refuse them; empty if the
  // device does not sample, or the batch needs all logits.
  virtual std::span<const int32_t> picked() const noexcept = 0;
  // [R] what log probabilities need of the rows in picked() whose draws ask for them; empty if none does.
  virtual std::span<const RowScore> scores() const noexcept { return {}; }
  // [R, vocab], or for a draft [R, draft_vocab_size()]; rows with an id in picked() are undefined.
  virtual std::span<const float> logits() const noexcept = 0;

  // Copies the bytes of a KV block, all layers (CacheLayout::kv_block_bytes), and of a recurrent slot
  // (state_slot_bytes), out of the pools and back, for a cache on disk. Their order is private to the model. Tokens of
  // a block after the first `num_tokens`, which may belong to another sequence, are read as zeros. From any thread,
  // beside steps that do not use the block or slot, or that only read what is copied out of it.
  virtual Status read_block(int32_t block, int32_t num_tokens, std::span<std::byte> to) = 0;
  virtual Status write_block(int32_t block, std::span<const std::byte> from) = 0;
  virtual Status read_slot(int32_t slot, std::span<std::byte> to) = 0;
  virtual Status write_slot(int32_t slot, std::span<const std::byte> from) = 0;

  // The projections that adapters may change; null if the model takes no adapters.
  virtual const AdapterLayout* adapter_layout() const noexcept { return nullptr; }
  // Between two steps: writes an adapter into EngineLimits::adapter_bytes, from element `begin` on, as that of `slot`.
  virtual Status place_adapter(int32_t slot, int64_t begin, const AdapterImage& image) {
    return make_error(StatusCode::unsupported, "the model takes no LoRA adapters");
  }

  // Of experts that stay in files, since the load. From any thread.
  virtual ExpertStats expert_stats() const { return {}; }

  // Allocates KV and state pools, step inputs and activations; call once, before forward().
  virtual Status allocate(const EngineLimits& sizes) = 0;
};

// The element type of the weights: `choice` is auto, float32, float16 or bfloat16.
Result<DType> choose_dtype(const std::string& choice, const io::ModelConfig& config, const io::Checkpoint& checkpoint);

// The format of the weights: `choice` is none (use `dtype`), bf16, 8bit, 4bit, or auto: none for a checkpoint of
// floats, as stored for a quantised one. Devices that cannot keep what the file stores make it 8bit, not 4bit: rounded
// twice, SmolLM2-135M reproduced none of ten answers of its 4-bit file; with 8 bits it reproduces as many as with
// floats.
Result<WeightFormat> choose_format(const std::string& choice, DType dtype, const io::Checkpoint& checkpoint);

// The element type of the KV cache: `choice` is auto (that of the model's numbers), one of the above, or int8.
Result<DType> choose_kv_dtype(const std::string& choice, DType model_dtype);

// The element type of recurrent states: `choice` is float32 or bfloat16.
Result<DType> choose_state_dtype(const std::string& choice);

// Whether the checkpoint has an MTP head that this model can run, and whether it is to be loaded: fills the fields of
// `config` about it.
void find_mtp_head(io::ModelConfig& config, const io::Checkpoint& checkpoint, bool is_wanted);

cache::CacheLayout cache_layout(const io::ModelConfig& config, cache::CacheTypes types, int32_t block_size) noexcept;

// Checks that every tensor the architecture needs is present with the right shape, and sums the sizes; reads no tensor
// data.
Result<WeightsSummary> check_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                     const device::Device& device, WeightFormat format);

// The same sizes in each of some formats.
Result<std::vector<WeightBytes>> weight_bytes_in(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                                 const device::Device& device, std::span<const WeightFormat> formats);

// The projections of the model that LoRA adapters may change.
Result<AdapterLayout> adapter_layout(const io::ModelConfig& config, const io::Checkpoint& checkpoint);

// Bytes that allocate() needs besides the pools: step inputs, activations, logits, device scratch.
int64_t workspace_bytes(const io::ModelConfig& config, const device::Device& device,
                        const EngineLimits& sizes) noexcept;

// Receives how many bytes of the matrices are on the device, and how many there are; returning false ends the load with
// `cancelled`.
using LoadProgress = std::function<bool(int64_t num_bytes, int64_t total_bytes)>;

// A folder where load_model() caches matrices in the device's format for the next load.
struct WeightCache {
  std::string folder;                     // "" = none
  int64_t max_bytes = int64_t{64} << 30;  // limit for all cached files
  // Nobody named the folder: only models are cached of whose matrices the device repacks at least `min_bytes`, because
  // others load as fast from their own files; and all cached files take at most a quarter of the disk's free space.
  bool is_automatic = false;
  int64_t min_bytes = int64_t{256} << 20;
  std::string note;  // output: where they came from or went to, or why they are not cached; empty without a folder
};

// WeightCache::note before a load: what it would do.
Result<std::string> weight_cache_note(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                      const device::Device& device, WeightFormat format, const WeightCache& cache);

// If anything is wrong with the cache, the model is loaded from the checkpoint. expert_memory_bytes: see
// Weights::load().
Result<std::unique_ptr<Model>> load_model(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                          device::Device& device, WeightFormat format, cache::CacheTypes types,
                                          int32_t block_size, const LoadProgress& progress,
                                          WeightCache* cache = nullptr, int64_t expert_memory_bytes = 0);

}  // namespace pagoda::model
