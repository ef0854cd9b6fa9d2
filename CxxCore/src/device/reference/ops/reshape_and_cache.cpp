// reshape_and_cache: writes k and v of each token to the paged cache.
#include <algorithm>
#include <cstring>

#include "base/kv_row.h"
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

// scale = largest magnitude / 127, elements rounded to nearest even; a row of (nearly) zeros has scale 0, one with a
// non-finite number has scale NaN.
void write_int8(const float* x, int64_t dim, int8_t* row) noexcept {
  float most = 0;
  bool is_finite = true;
  for (int64_t i = 0; i < dim; ++i) {
    most = std::max(most, std::abs(x[i]));
    is_finite = is_finite && std::isfinite(x[i]);
  }
  const bool is_zero = most <= 0x1p-100f;
  for (int64_t i = 0; i < dim; ++i)
    row[i] = is_zero || !is_finite ? 0 : static_cast<int8_t>(std::nearbyint(x[i] * (127.0f / most)));
  const float scale = !is_finite ? NAN : (is_zero ? 0.0f : most / 127.0f);
  std::memcpy(row + kv_scale_offset(dim), &scale, sizeof scale);
}

void write(const Tensor& from, int64_t t, int64_t h, const Tensor& cache, int64_t slot) noexcept {
  const int64_t block = slot / cache.shape[1], offset = slot % cache.shape[1], dim = from.shape[2];
  const int64_t first = block * cache.strides[0] + offset * cache.strides[1] + h * cache.strides[2];
  if (cache.dtype == DType::i8) return write_int8(at<float>(from, t, h), dim, host_data<int8_t>(cache) + first);
  for (int64_t i = 0; i < dim; ++i) store(host_data<void>(cache), cache.dtype, first + i, at<float>(from, t, h)[i]);
}

}  // namespace

void run(const ReshapeAndCacheArgs& args) noexcept {
  for (int64_t t = 0; t < args.k.shape[0]; ++t)
    for (int64_t h = 0; h < args.k.shape[1]; ++h) {
      const int64_t slot = host_data<int64_t>(args.slot_mapping)[t];
      write(args.k, t, h, args.k_cache, slot);
      write(args.v, t, h, args.v_cache, slot);
    }
}

}  // namespace pagoda::device::reference
