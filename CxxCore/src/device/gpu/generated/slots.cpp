// slots.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/slots.metal"
#include "device/gpu/generated/common.h"
#include "device/gpu/generated/args_rows.h"


template <typename Unit>
MSL_KERNEL void zero_slots(MSL_DEVICE Unit* pool ,
                       MSL_DEVICE const int* slots ,
                       MSL_CONSTANT pagoda_args::Slot& args ,
                       uint2 tg ,
                       uint2 grid ,
                       uint2 thread_at ,
                       uint2 size ) {
  MSL_DEVICE Unit* slot = pool + long(slots[tg.y]) * args.slot_stride;
  for (long i = long(tg.x * size.x + thread_at.x); MSL_LOOP(i < args.slot_units); i += long(grid.x * size.x)) {
    slot[i] = Unit(0);
  }
}


template <typename Unit>
MSL_KERNEL void copy_slot(MSL_DEVICE Unit* pool ,
                      MSL_CONSTANT pagoda_args::Slot& args ,
                      uint tg ,
                      uint grid ,
                      uint tid ,
                      uint size ) {
  MSL_DEVICE Unit* to = pool + args.to * args.slot_stride;
  MSL_DEVICE const Unit* from = pool + args.from * args.slot_stride;
  for (long i = long(tg * size + tid); MSL_LOOP(i < args.slot_units); i += long(grid * size)) {
    to[i] = from[i];
  }
}
# 1 "slots.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"pool", 0, BindingKind::buffer, sizeof(uint), true}, {"slots", 1, BindingKind::buffer, sizeof(int), false}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Slot), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; zero_slots<uint>((uint*)in.buffers[0], (const int*)in.buffers[1], *(const pagoda_args::Slot*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint2>(b.threadgroups_per_grid), msl_builtin<uint2>(b.thread_position_in_threadgroup), msl_builtin<uint2>(b.threads_per_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"pool", 0, BindingKind::buffer, sizeof(uchar), true}, {"slots", 1, BindingKind::buffer, sizeof(int), false}, {"args", 2, BindingKind::values, sizeof(pagoda_args::Slot), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; zero_slots<uchar>((uchar*)in.buffers[0], (const int*)in.buffers[1], *(const pagoda_args::Slot*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint2>(b.threadgroups_per_grid), msl_builtin<uint2>(b.thread_position_in_threadgroup), msl_builtin<uint2>(b.threads_per_threadgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"pool", 0, BindingKind::buffer, sizeof(uint), true}, {"args", 1, BindingKind::values, sizeof(pagoda_args::Slot), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; copy_slot<uint>((uint*)in.buffers[0], *(const pagoda_args::Slot*)in.buffers[1], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.threadgroups_per_grid), msl_builtin<uint>(b.thread_position_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"pool", 0, BindingKind::buffer, sizeof(uchar), true}, {"args", 1, BindingKind::values, sizeof(pagoda_args::Slot), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; copy_slot<uchar>((uchar*)in.buffers[0], *(const pagoda_args::Slot*)in.buffers[1], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.threadgroups_per_grid), msl_builtin<uint>(b.thread_position_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"zero_slots_words", "slots", msl_bindings_0, {}, 1024, msl_entry_0},
  {"zero_slots_bytes", "slots", msl_bindings_1, {}, 1024, msl_entry_1},
  {"copy_slot_words", "slots", msl_bindings_2, {}, 1024, msl_entry_2},
  {"copy_slot_bytes", "slots", msl_bindings_3, {}, 1024, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> slots_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
