// reshape_and_cache: k and v of each token to its place in the paged cache.
#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

void write(const Tensor& from, int64_t t, int64_t h, const Tensor& cache, int64_t slot) noexcept {
  const int64_t block = slot / cache.shape[1], place = slot % cache.shape[1];
  const int64_t first = block * cache.strides[0] + place * cache.strides[1] + h * cache.strides[2];
  for (int64_t i = 0; i < from.shape[2]; ++i)
    store(host_data<void>(cache), cache.dtype, first + i, at<float>(from, t, h)[i]);
}

}  // namespace

void reshape_and_cache(const ReshapeAndCacheArgs& args) noexcept {
  for (int64_t t = 0; t < args.k.shape[0]; ++t)
    for (int64_t h = 0; h < args.k.shape[1]; ++h) {
      const int64_t slot = host_data<int64_t>(args.slot_mapping)[t];
      write(args.k, t, h, args.k_cache, slot);
      write(args.v, t, h, args.v_cache, slot);
    }
}

}  // namespace pagoda::device::reference
