// Implements the argument checks and their error messages.
#include "ops/check.h"

#include <string>

#include "base/concat.h"
#include "base/kv_row.h"

namespace pagoda::ops {
namespace {

using device::Tensor;

bool has_shape(const Tensor& t, std::initializer_list<int64_t> shape) noexcept {
  if (t.rank != static_cast<int>(shape.size())) return false;
  const int64_t* wanted = shape.begin();
  for (int i = 0; i < t.rank; ++i)
    if (t.shape[i] < 0 || (wanted[i] != kAny && wanted[i] != t.shape[i])) return false;
  return true;
}

bool last_is_dense(const Tensor& t) noexcept { return t.shape[t.rank - 1] <= 1 || t.strides[t.rank - 1] == 1; }

// Whether every element is inside the buffer. No product can overflow: shapes and strides may have any value.
bool is_inside_buffer(const Tensor& t) noexcept {
  int64_t last = 0;
  for (int i = 0; i < t.rank; ++i) {
    if (t.shape[i] == 0) return true;
    int64_t step;
    if (t.strides[i] < 0 || __builtin_mul_overflow(t.shape[i] - 1, t.strides[i], &step) ||
        __builtin_add_overflow(last, step, &last))
      return false;
  }
  int64_t end;
  if (__builtin_add_overflow(last, int64_t{1}, &last) ||
      __builtin_mul_overflow(last, static_cast<int64_t>(dtype_bytes(t.dtype)), &end) ||
      __builtin_add_overflow(end, t.offset_bytes, &end))
    return false;
  return t.offset_bytes >= 0 && static_cast<uint64_t>(end) <= t.buffer->size_bytes();
}

std::string shape_text(const int64_t* shape, int rank) {
  std::string text = "[";
  for (int i = 0; i < rank; ++i) {
    if (i > 0) text += ", ";
    text += shape[i] == kAny ? "any" : std::to_string(shape[i]);
  }
  return text + "]";
}

std::string type_text(DType dtype) { return std::string(dtype_name(dtype)); }

}  // namespace

Check& Check::tensor(const char* argument, const Tensor& t, DType dtype,
                     std::initializer_list<int64_t> shape) noexcept {
  if (!is_ok()) return *this;
  if (!t.is_present()) return that(false, argument, "is absent");
  if (t.dtype != dtype || !has_shape(t, shape)) {
    fail_shape(argument, t, dtype, shape);
    return *this;
  }
  that(last_is_dense(t), argument, "has a last stride other than 1");
  if (is_ok() && !is_inside_buffer(t)) {
    status_ = make_error(StatusCode::internal,
                         concat(op_, ": ", argument, " ", shape_text(t.shape.data(), t.rank), " with strides ",
                                shape_text(t.strides.data(), t.rank), " at byte ", t.offset_bytes,
                                " leaves its buffer of ", t.buffer->size_bytes(), " bytes"));
  }
  return *this;
}

Check& Check::optional(const char* argument, const Tensor& t, DType dtype,
                       std::initializer_list<int64_t> shape) noexcept {
  return t.is_present() ? tensor(argument, t, dtype, shape) : *this;
}

Check& Check::pool(const char* argument, const Tensor& t, DType dtype, std::initializer_list<int64_t> shape) noexcept {
  tensor(argument, t, dtype, shape);
  if (!is_ok()) return *this;
  int64_t stride = 1;
  for (int i = t.rank - 1; i > 0; --i) {
    if (t.shape[i] > 1) that(t.strides[i] == stride, argument, "is not dense after its first dimension");
    stride *= t.shape[i];
  }
  return t.shape[0] > 1 ? that(t.strides[0] >= stride, argument, "has overlapping slots") : *this;
}

Check& Check::cache(const char* argument, const Tensor& t, std::initializer_list<int64_t> shape) noexcept {
  const bool is_known =
      t.dtype == DType::f32 || t.dtype == DType::f16 || t.dtype == DType::bf16 || t.dtype == DType::i8;
  tensor(argument, t, is_known ? t.dtype : DType::f32, shape);
  if (!is_ok() || t.dtype != DType::i8) return *this;
  Tensor rows = t;  // rows including the scale after the elements
  rows.shape[t.rank - 1] = kv_row_bytes(t.dtype, t.shape[t.rank - 1]);
  that(is_inside_buffer(rows), argument, "has no space for the scale of its last row");
  for (int i = 0; i + 1 < t.rank; ++i)
    that(t.shape[i] <= 1 || t.strides[i] >= rows.shape[t.rank - 1], argument,
         "has no space for scales between its rows");
  return *this;
}

Check& Check::weight(const char* argument, const device::Weight* w, int64_t rows, int64_t cols) noexcept {
  if (!is_ok()) return *this;
  if (w == nullptr) return that(false, argument, "is absent");
  if ((rows == kAny || rows == w->rows()) && (cols == kAny || cols == w->cols())) return *this;
  const int64_t got[] = {w->rows(), w->cols()}, wanted[] = {rows, cols};
  status_ = make_error(StatusCode::internal, std::string(op_) + ": " + argument + " is a weight " + shape_text(got, 2) +
                                                 ", wanted " + shape_text(wanted, 2));
  return *this;
}

Check& Check::that(bool holds, const char* argument, const char* rule) noexcept {
  if (is_ok() && !holds) status_ = make_error(StatusCode::internal, std::string(op_) + ": " + argument + " " + rule);
  return *this;
}

void Check::fail_shape(const char* argument, const Tensor& t, DType dtype,
                       std::initializer_list<int64_t> shape) noexcept {
  const int rank = t.rank < 0 ? 0 : (t.rank > device::kMaxRank ? device::kMaxRank : t.rank);
  status_ = make_error(StatusCode::internal, std::string(op_) + ": " + argument + " is " + type_text(t.dtype) + " " +
                                                 shape_text(t.shape.data(), rank) + ", wanted " + type_text(dtype) +
                                                 " " + shape_text(shape.begin(), static_cast<int>(shape.size())));
}

void check_sequences(Check& check, const device::SequenceArgs& s, bool wants_blocks, bool wants_slots) noexcept {
  check.tensor("context_lens", s.context_lens, DType::i32, {kAny});
  if (!check.is_ok()) return;
  const int64_t num_sequences = s.context_lens.shape[0];
  check.tensor("cu_seqlens", s.cu_seqlens, DType::i32, {num_sequences + 1});
  if (wants_blocks) check.tensor("block_tables", s.block_tables, DType::i32, {num_sequences, kAny});
  if (wants_slots) check.tensor("state_slots", s.state_slots, DType::i32, {num_sequences});
}

void check_caches(Check& check, const device::Tensor& k_cache, const device::Tensor& v_cache, int64_t heads,
                  int64_t dim) noexcept {
  check.that(dim <= device::kMaxHeadDim, "q", "has a head dim above 512")
      .cache("k_cache", k_cache, {kAny, kAny, kAny, dim})
      .that(k_cache.shape[1] >= 1, "k_cache", "has blocks of no token");
  if (!check.is_ok()) return;
  const auto& cache = k_cache.shape;
  check.cache("v_cache", v_cache, {cache[0], cache[1], cache[2], dim})
      .that(k_cache.dtype == v_cache.dtype, "v_cache", "has another type than k_cache")
      .that(cache[2] > 0 && heads % cache[2] == 0, "q", "has heads that are no multiple of the KV heads");
}

void check_convolution(Check& check, const Tensor& x, const Tensor& weight, int64_t dilation, const Tensor& tail,
                       const device::SequenceArgs& sequences, const Tensor& out) noexcept {
  check.tensor("x", x, DType::f32, {kAny, kAny});
  const int64_t rows = x.shape[0], channels = x.shape[1];
  check.pool("weight", weight, DType::f32, {kAny, channels});
  if (!check.is_ok()) return;
  const int64_t kernel = weight.shape[0];
  check.that(kernel >= 2 && kernel <= device::kMaxConvKernel, "weight", "has a kernel outside 2 to 8")
      .that(channels <= 1 || weight.strides[0] == channels, "weight", "is not dense")
      .pool("tail", tail, DType::f32, {kAny, kAny, channels})
      .that(tail.shape[1] >= (kernel - 1) * dilation, "tail", "has fewer rows than the kernel looks back")
      .tensor("out", out, DType::f32, {rows, channels})
      .that(out.buffer != x.buffer || out.offset_bytes != x.offset_bytes, "out",
            "is x: later rows still need the inputs");
  check_sequences(check, sequences, /*wants_blocks=*/false, /*wants_slots=*/true);
}

Status encode(Check& check, device::Encoder& encoder, device::OpRef op) noexcept {
  if (!check.is_ok()) return check.status();
  if (!encoder.can(op)) return make_error(StatusCode::unsupported, std::string("this device has no ") + op.name());
  encoder.encode(op);
  return ok_status();
}

}  // namespace pagoda::ops
