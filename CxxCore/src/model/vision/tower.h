// VisionTower: turns an image into rows that replace the embeddings of its tokens. A transformer of its own: patches
// are embedded, pass through blocks of attention over the whole image, and are merged, four to a token. The work is cut
// into parts of a bounded number of patches, so that other work can run in between; the cuts do not change the bits.
// State: weights, and the activations of the image in progress. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/support.h"
#include "model/arena.h"
#include "model/vision/weights.h"
#include "pagoda/image.h"

namespace pagoda::model {

class VisionTower {
 public:
  // What `device` must have to run it.
  static device::KernelNeeds needs(const io::VisionConfig& config) noexcept;
  // Runs on its own `device`, which nothing else may use. Images have at most `max_tokens` tokens.
  static Result<std::unique_ptr<VisionTower>> load(const io::VisionConfig& config, const io::Checkpoint& checkpoint,
                                                   std::unique_ptr<device::Device> device, WeightFormat format,
                                                   int32_t max_tokens);
  // Bytes that load() needs besides the weights.
  static int64_t workspace_bytes(const io::VisionConfig& config, const device::Device& device, WeightFormat format,
                                 int32_t max_tokens) noexcept;

  const io::VisionConfig& config() const noexcept { return config_; }
  const device::Device& device() const noexcept { return *device_; }
  int32_t max_tokens() const noexcept { return max_tokens_; }

  // Refuses an image that the tower cannot take, by name.
  Status check(const PreparedImage& image) const;
  // Starts an image; one in progress is dropped. Its rows, [num_tokens, VisionConfig::row_size()], are complete when
  // advance() returns true; until then `rows` must stay valid.
  Status begin(const PreparedImage& image, std::span<float> rows);
  // Computes the next part. True when it was the last. After an error the image is dropped.
  Result<bool> advance();
  // Parts of an image with this many patches.
  int64_t num_parts(int32_t num_patches) const noexcept;

 private:
  struct Buffers {
    device::Tensor x, q;         // f32 [N, D]; q also holds what is to be added to x, until a norm adds it
    device::Tensor k, v;         // f32 or bf16 [1, N, heads, head_dim], head by head
    device::Tensor patches;      // f32 [C, patch_dim]
    device::Tensor normed;       // f32 [C, D]
    device::Tensor projected;    // f32 [C, 3 D]
    device::Tensor mixed;        // f32 [C, D]
    device::Tensor delta;        // f32 [C, D]
    device::Tensor inner;        // f32 [C, F]
    device::Tensor merged_in;    // f32 [C / 4, 4 D]
    device::Tensor merged;       // f32 [C / 4, out]
    device::Tensor rows, cols;   // i32 [N]: places of the patches
    device::Tensor slots;        // i64 [N]: 0, 1, ...
    device::Tensor bounds;       // i32 [2]: 0, patches of the part
    device::Tensor context;      // i32 [1]: patches of the image
    device::Tensor block_table;  // i32 [1, 1]: 0
    device::Tensor inv_freq;     // f32 [2, head_dim / 2]: of rows, then of columns; the others 0
  };
  enum class Phase : uint8_t { embed, project, mix, deepen, merge };

  VisionTower(const io::VisionConfig& config, std::unique_ptr<device::Device> device, int32_t max_tokens);
  static Buffers plan(const io::VisionConfig& config, const device::DeviceInfo& device, WeightFormat format,
                      int32_t max_tokens, Arena& arena) noexcept;
  static device::StepLimits limits(const io::VisionConfig& config, const device::DeviceInfo& device,
                                   int32_t max_tokens) noexcept;
  Status upload_constants();
  Status embed(int64_t first, int64_t count);
  Status project(const TowerWeights::Block& block, int64_t first, int64_t count);
  Status rotate(const device::Tensor& heads, const device::Tensor& out, int64_t first, int64_t count);
  Status mix(const TowerWeights::Block& block, int64_t first, int64_t count);
  Status merge(int64_t first, int64_t count);
  Status deepen(int64_t first, int64_t count);
  Status finish_merge(const TowerWeights::Merger& merger, const device::Tensor& tokens);
  Status download_rows(int64_t first, int64_t count);
  void next_phase();
  // The DeepStack feature that the current block makes; -1 for none.
  int64_t feature() const noexcept;
  device::Tensor addition(int64_t first, int64_t count) const noexcept;
  Status linear(const TowerWeights::Linear& linear, const device::Tensor& x, const device::Tensor& out);
  Status norm(const TowerWeights::Norm& norm, const device::Tensor& x, const device::Tensor& residual,
              const device::Tensor& out);
  Status run_part(int64_t first, int64_t count);
  int64_t part_size() const noexcept;

  const io::VisionConfig config_;
  const std::unique_ptr<device::Device> device_;
  const int32_t max_tokens_;
  TowerWeights weights_;
  std::unique_ptr<device::Buffer> buffer_;
  Buffers buffers_;
  std::vector<float> host_rows_;  // patches or positions of a part
  PreparedImage image_;           // in progress; none if it has no patches
  std::span<float> out_;
  Phase phase_ = Phase::embed;
  size_t block_ = 0;
  bool is_added_ = false;  // x includes q
  int64_t next_patch_ = 0;
};

}  // namespace pagoda::model
