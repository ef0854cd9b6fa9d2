// layer_norm.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/layer_norm.metal"
#include "device/gpu/generated/args_layer_norm.h"
#include "device/gpu/generated/norms.h"

MSL_FUNCTION_CONSTANT(bool, has_residual, 0)


METAL_FUNC float thread_sum(MSL_DEVICE const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; MSL_LOOP(first < width); first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);

    for (uint j = 0; j < kAhead; ++j) {
      sum += v[j];
    }
  }
  return sum;
}


METAL_FUNC float thread_distances(MSL_DEVICE const float* row, float mean, uint width, uint tid) {
  float sum = 0.0f;
  for (uint i = tid; MSL_LOOP(i < width); i += kRowThreads) {
    const float distance = row[i] - mean;
    sum = fma(distance, distance, sum);
  }
  return sum;
}
# 33 "Shaders/layer_norm.metal"
MSL_KERNEL void layer_norm(MSL_DEVICE float* x ,
                       MSL_DEVICE const float* residual ,
                       MSL_DEVICE const float* weight ,
                       MSL_DEVICE const float* bias ,
                       MSL_DEVICE float* out ,
                       MSL_CONSTANT pagoda_args::LayerNorm& args ,
                       uint row ,
                       uint tid ,
                       uint lane ,
                       uint simdgroup ) {
  MSL_TG_VAR(1, sums, [kRowSimdgroups], float)
  MSL_TG_VAR(2, squares, [kRowSimdgroups], float)
  MSL_DEVICE float* x_row = x + long(row) * args.x_stride;
  if (has_residual) {
    add_residual(x_row, residual + long(row) * args.residual_stride, args.width, tid);
  }
  MSL_DEVICE const float* from = (MSL_DEVICE const float*)(x_row);
  const float count = float(args.width);
  const float mean =
      threadgroup_sum(thread_sum(from, args.width, tid), sums, lane, simdgroup, kRowSimdgroups) / count;
  const float distances =
      threadgroup_sum(thread_distances(from, mean, args.width, tid), squares, lane, simdgroup, kRowSimdgroups);
  const float scale = 1.0f / sqrt(distances / count + args.eps);
  MSL_DEVICE float* to = out + long(row) * args.out_stride;
  for (uint i = tid; MSL_LOOP(i < args.width); i += kRowThreads) {
    to[i] = fma((from[i] - mean) * scale, weight[i], bias[i]);
  }
}
# 1 "layer_norm.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), true}, {"residual", 1, BindingKind::buffer, sizeof(float), false}, {"weight", 2, BindingKind::buffer, sizeof(float), false}, {"bias", 3, BindingKind::buffer, sizeof(float), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::LayerNorm), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; layer_norm((float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::LayerNorm*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup)); }
constexpr ConstantInfo msl_constants[] = {{"has_residual", 0, ConstantType::bool_, msl_set_has_residual}};
constexpr KernelInfo msl_kernels[] = {
  {"layer_norm", "layer_norm", msl_bindings_0, msl_constants, 256, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> layer_norm_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
