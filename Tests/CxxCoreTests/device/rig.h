// Rig: a device and the tensors of one op test.
#pragma once

#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/device.h"

namespace pagoda::test {

using Shape = std::initializer_list<int64_t>;

class Rig {
 public:
  explicit Rig(const std::string& device_name, int num_threads = 2);
  explicit Rig(std::unique_ptr<device::Device> device);
  // From now on quantised weights are floats with the values that GPU kernels round them to.
  void round_weights_in_groups() { rounds_in_groups_ = true; }
  bool has_quantised_weights() const { return has_quantised_weights_; }
  bool is_ok() const { return device_ != nullptr; }
  device::Device& device() { return *device_; }
  device::Encoder& encoder() { return device_->encoder(); }
  Status finish() { return encoder().submit().wait(); }

  device::Tensor zeros(DType dtype, Shape shape);
  // [num_blocks, block_size, heads, dim] of any cache type; int8 rows have space for their scales.
  device::Tensor kv_cache(DType dtype, int64_t num_blocks, int64_t block_size, int64_t heads, int64_t dim);
  device::Tensor floats(const std::vector<float>& values, Shape shape);
  device::Tensor ints(const std::vector<int32_t>& values);
  device::Tensor ints(const std::vector<int32_t>& values, Shape shape);
  device::Tensor longs(const std::vector<int64_t>& values);
  device::Weight* weight(const std::vector<float>& values, int64_t rows, int64_t cols, WeightFormat format);

  std::vector<float> read(const device::Tensor& dense);           // f32, f16, bf16 or i8, as floats
  std::vector<float> read_cache(const device::Tensor& kv_cache);  // the same, int8 rows times their scales
  std::vector<std::byte> bytes(const device::Tensor& dense);

 private:
  device::Tensor put(DType dtype, Shape shape, const void* values, size_t size_bytes);

  bool rounds_in_groups_ = false, has_quantised_weights_ = false;
  std::unique_ptr<device::Device> device_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
  std::vector<std::unique_ptr<device::Weight>> weights_;
};

// A KV cache with its rows as they are in memory: those of int8 with their scales.
inline device::Tensor whole_rows(device::Tensor kv_cache) {
  kv_cache.shape[3] = kv_cache.strides[2];
  return kv_cache;
}

// Every device of this machine and every CPU code path; PAGODA_TEST_DEVICE limits them to one device, with "cpu" to the
// code paths of the CPU, with "simd" to those with vector instructions.
std::vector<std::string> selected_devices();

// The selected devices except the reference, with each CPU code path once, best first.
std::vector<std::string> tested_devices();

// Devices that run the kernels of Shaders/.
inline bool runs_kernels(const std::string& name) { return name == "software" || name == "cuda" || name == "metal"; }

// Code paths whose bf16 instruction has its own summation order.
inline bool has_own_bf16_order(const std::string& name) { return name == "cpu:neon-i8mm" || name == "cpu:avx512bf16"; }

// Normally distributed numbers from one seed.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  std::vector<float> normal(int64_t count, float scale = 1.0f);
  int64_t below(int64_t limit) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(limit)); }

 private:
  std::mt19937_64 engine_;
};

// A batch of sequences: rows in this step and tokens already cached. The slot of sequence b is b + 1.
struct Batch {
  std::vector<int64_t> cached, rows;
  int64_t num_rows() const;
  int64_t num_sequences() const { return static_cast<int64_t>(rows.size()); }
};

// Index tensors of a batch. KV block i of sequence b is block i * num_sequences + b, so that no sequence has two
// adjacent blocks.
device::SequenceArgs make_sequences(Rig& rig, const Batch& batch, int64_t block_size, int64_t max_blocks);

}  // namespace pagoda::test
