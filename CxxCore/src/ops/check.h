// Check: the argument checks of one op call. Allocates only on failure; the first failure is kept.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/result.h"
#include "device/device.h"
#include "device/op_list.h"
#include "device/tensor.h"

namespace pagoda::ops {

constexpr int64_t kAny = -1;  // wildcard dimension of an expected shape

class Check {
 public:
  explicit Check(const char* op) noexcept : op_(op) {}

  // Present, of this type and shape, innermost stride 1, inside its buffer.
  Check& tensor(const char* argument, const device::Tensor& t, DType dtype,
                std::initializer_list<int64_t> shape) noexcept;
  Check& optional(const char* argument, const device::Tensor& t, DType dtype,
                  std::initializer_list<int64_t> shape) noexcept;
  // Like tensor(), and dense in all dimensions after the first.
  Check& pool(const char* argument, const device::Tensor& t, DType dtype,
              std::initializer_list<int64_t> shape) noexcept;
  // Like tensor(), with any cache type: f32, f16, bf16, or i8 with space for scales (base/kv_row.h).
  Check& cache(const char* argument, const device::Tensor& t, std::initializer_list<int64_t> shape) noexcept;
  Check& weight(const char* argument, const device::Weight* w, int64_t rows, int64_t cols) noexcept;
  Check& that(bool holds, const char* argument, const char* rule) noexcept;

  bool is_ok() const noexcept { return status_.is_ok(); }
  Status status() noexcept { return std::move(status_); }

 private:
  void fail_shape(const char* argument, const device::Tensor& t, DType dtype,
                  std::initializer_list<int64_t> shape) noexcept;

  const char* op_;
  Status status_;
};

// cu_seqlens, context_lens and, if requested, block_tables and state_slots agree on the number of sequences.
void check_sequences(Check& check, const device::SequenceArgs& s, bool wants_blocks, bool wants_slots) noexcept;

// Caches of keys and values, [num_blocks, block_size, kv_heads, dim], for queries of `heads` heads.
void check_caches(Check& check, const device::Tensor& k_cache, const device::Tensor& v_cache, int64_t heads,
                  int64_t dim) noexcept;

// A convolution of x over time with a dense weight [kernel, channels], whose taps are `dilation` tokens apart.
void check_convolution(Check& check, const device::Tensor& x, const device::Tensor& weight, int64_t dilation,
                       const device::Tensor& tail, const device::SequenceArgs& sequences,
                       const device::Tensor& out) noexcept;

// Encodes `op` if its arguments are valid and the device has it.
Status encode(Check& check, device::Encoder& encoder, device::OpRef op) noexcept;

}  // namespace pagoda::ops
