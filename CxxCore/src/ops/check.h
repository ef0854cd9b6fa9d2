// Check: the argument checks of one op call, kept free of allocation until one fails; the first failure stays.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "base/result.h"
#include "device/device.h"
#include "device/tensor.h"

namespace pagoda::ops {

constexpr int64_t kAny = -1;  // in a wanted shape: this dimension is free

class Check {
 public:
  explicit Check(const char* op) noexcept : op_(op) {}

  // Present, of this type and shape, last stride 1, inside its buffer.
  Check& tensor(const char* argument, const device::Tensor& t, DType dtype,
                std::initializer_list<int64_t> shape) noexcept;
  Check& optional(const char* argument, const device::Tensor& t, DType dtype,
                  std::initializer_list<int64_t> shape) noexcept;
  // As tensor(); all dimensions after the first are dense.
  Check& pool(const char* argument, const device::Tensor& t, DType dtype,
              std::initializer_list<int64_t> shape) noexcept;
  // As tensor(), in one of the types a cache may have: f32, f16, bf16, i8 with room for scales (base/kv_row.h).
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

// cu_seqlens, context_lens and, when asked for, block_tables and state_slots agree on the number of sequences.
void check_sequences(Check& check, const device::SequenceArgs& s, bool wants_blocks, bool wants_slots) noexcept;

}  // namespace pagoda::ops
