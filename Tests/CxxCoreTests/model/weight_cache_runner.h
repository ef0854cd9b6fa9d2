// Loads a model through a weight cache, runs one step, and tells where the matrices came from.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/registry.h"
#include "model/model_runner.h"

namespace pagoda::test {

// A device that counts the sources of its weights.
class ObservedDevice final : public device::Device {
 public:
  int num_made = 0, num_adopted = 0;
  std::string layout_suffix;

  explicit ObservedDevice(std::unique_ptr<device::Device> inner) : inner_(std::move(inner)) {}

  const device::DeviceInfo& info() const noexcept override { return inner_->info(); }
  device::Encoder& encoder() noexcept override { return inner_->encoder(); }
  Result<std::unique_ptr<device::Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    return inner_->allocate(size_bytes, label);
  }
  Result<std::unique_ptr<device::Weight>> make_weight(const device::WeightSource& source,
                                                      WeightFormat format) override {
    ++num_made;
    return inner_->make_weight(source, format);
  }
  size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept override {
    return inner_->weight_bytes(rows, cols, format);
  }
  bool keeps_format(WeightFormat format) const noexcept override { return inner_->keeps_format(format); }
  bool joins_weights(bool is_plain) const noexcept override { return inner_->joins_weights(is_plain); }
  Result<std::unique_ptr<device::Weight>> join_weights(std::vector<std::unique_ptr<device::Weight>> pieces) override {
    return inner_->join_weights(std::move(pieces));
  }
  bool repacks(WeightFormat format) const noexcept override { return inner_->repacks(format); }
  Status read_weight(const device::Weight& weight, size_t offset, std::span<std::byte> into) override {
    return inner_->read_weight(weight, offset, into);
  }
  std::string weight_layout(WeightFormat format) const override {
    return inner_->weight_layout(format) + layout_suffix;
  }
  Result<std::unique_ptr<device::Weight>> adopt_weight(WeightFormat format, int64_t rows, int64_t cols,
                                                       std::unique_ptr<device::Buffer> bytes) override {
    ++num_adopted;
    return inner_->adopt_weight(format, rows, cols, std::move(bytes));
  }
  Status reserve(const device::StepLimits& limits) override { return inner_->reserve(limits); }
  size_t reserve_bytes(const device::StepLimits& limits) const noexcept override {
    return inner_->reserve_bytes(limits);
  }
  Status upload(const device::Tensor& to, const void* from, size_t size_bytes) noexcept override {
    return inner_->upload(to, from, size_bytes);
  }
  Status download(const device::Tensor& from, void* to, size_t size_bytes) noexcept override {
    return inner_->download(from, to, size_bytes);
  }

 private:
  std::unique_ptr<device::Device> inner_;
};

struct Load {
  int num_made = 0, num_adopted = 0;
  std::string note;
  std::vector<float> logits;

  bool was_cached() const { return num_made == 0 && num_adopted > 0; }
  bool was_written() const { return num_made > 0 && num_adopted == 0 && note.find("written to") != note.npos; }
};

struct CachedLoad {
  ModelSource source;
  model::WeightCache cache;
  WeightFormat format = WeightFormat::q8;
  std::string layout_suffix = "";
  // Makes the device; null: the CPU with one thread.
  std::function<std::unique_ptr<device::Device>()> make_device = nullptr;
  model::LoadProgress progress = nullptr;
};

inline Result<Load> run_cached(CachedLoad options) {
  auto opened = open_model(options.source);
  if (!opened.is_ok()) return opened.status;
  ObservedDevice device(options.make_device ? options.make_device() : std::move(*device::make_device("cpu", 1)));
  device.layout_suffix = options.layout_suffix;
  int64_t done = 0, total = 0;
  auto model = model::load_model(
      opened->config, *opened->checkpoint, device, options.format, DType::f32, 8,
      [&](int64_t num_bytes, int64_t total_bytes) {
        CHECK(num_bytes >= done && num_bytes <= total_bytes);
        done = num_bytes;
        total = total_bytes;
        return !options.progress || options.progress(num_bytes, total_bytes);
      },
      &options.cache);
  if (!model.is_ok()) return model.status;
  CHECK(total > 0);
  CHECK_EQ(done, total);
  PAGODA_RETURN_IF_ERROR((*model)->allocate({.num_kv_blocks = 2,
                                             .num_state_slots = 2,
                                             .max_num_tokens = 4,
                                             .max_num_seqs = 1,
                                             .max_logits_rows = 1,
                                             .max_blocks_per_seq = 1}));
  model::ForwardBatch batch;
  batch.token_ids = {3, 5, 7};
  batch.positions = {0, 1, 2};
  batch.slot_mapping = {8, 9, 10};
  batch.cu_seqlens = {0, 3};
  batch.context_lens = {3};
  batch.block_tables = {1};
  batch.logits_rows = {2};
  if (model::cache_layout(opened->config, DType::f32, 8).has_state()) batch.state_slots = batch.fresh_slots = {1};
  PAGODA_RETURN_IF_ERROR((*model)->forward(batch));
  const auto logits = (*model)->logits();
  return Load{device.num_made, device.num_adopted, options.cache.note, {logits.begin(), logits.end()}};
}

inline std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) names.push_back(entry.path().string());
  return names;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline ModelSource fixture() { return folder(fixtures_dir() + "/model/qwen3_5"); }

}  // namespace pagoda::test
