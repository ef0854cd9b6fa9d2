// Ids of all kernels, names of their bindings and function constants. Made by Tools/mslc/generate.sh.
#pragma once

#include <string_view>

#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu::kernels {
namespace defect_good {
inline constexpr KernelId kernel = {0, "defect_good"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_good
namespace defect_oob_read {
inline constexpr KernelId kernel = {1, "defect_oob_read"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_read
namespace defect_oob_write {
inline constexpr KernelId kernel = {2, "defect_oob_write"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_write
namespace defect_oob_far {
inline constexpr KernelId kernel = {3, "defect_oob_far"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_far
namespace defect_oob_threadgroup {
inline constexpr KernelId kernel = {4, "defect_oob_threadgroup"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_threadgroup
namespace defect_race_no_barrier {
inline constexpr KernelId kernel = {5, "defect_race_no_barrier"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_no_barrier
namespace defect_race_in_simdgroup {
inline constexpr KernelId kernel = {6, "defect_race_in_simdgroup"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_in_simdgroup
namespace defect_race_reuse {
inline constexpr KernelId kernel = {7, "defect_race_reuse"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_reuse
namespace defect_race_wrong_flags {
inline constexpr KernelId kernel = {8, "defect_race_wrong_flags"};
enum Binding : int { in = 0, out = 1, scratch = 2 };
}  // namespace defect_race_wrong_flags
namespace defect_race_groups {
inline constexpr KernelId kernel = {9, "defect_race_groups"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_groups
namespace defect_uninit_threadgroup {
inline constexpr KernelId kernel = {10, "defect_uninit_threadgroup"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_uninit_threadgroup
namespace defect_uninit_local {
inline constexpr KernelId kernel = {11, "defect_uninit_local"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_uninit_local
namespace defect_divergent_barrier {
inline constexpr KernelId kernel = {12, "defect_divergent_barrier"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_divergent_barrier
namespace defect_early_return {
inline constexpr KernelId kernel = {13, "defect_early_return"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_early_return
namespace defect_divergent_simd {
inline constexpr KernelId kernel = {14, "defect_divergent_simd"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_divergent_simd
namespace defect_two_sites {
inline constexpr KernelId kernel = {15, "defect_two_sites"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_two_sites
namespace defect_matrix_pointer {
inline constexpr KernelId kernel = {16, "defect_matrix_pointer"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_matrix_pointer
namespace defect_misaligned {
inline constexpr KernelId kernel = {17, "defect_misaligned"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_misaligned
namespace defect_threadgroup_too_large {
inline constexpr KernelId kernel = {18, "defect_threadgroup_too_large"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_threadgroup_too_large
namespace defect_endless {
inline constexpr KernelId kernel = {19, "defect_endless"};
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_endless
namespace intrinsics_unary {
inline constexpr KernelId f32 = {20, "intrinsics_unary_f32"};
inline constexpr KernelId f16 = {21, "intrinsics_unary_f16"};
enum Binding : int { in = 0, out = 1 };
}  // namespace intrinsics_unary
namespace intrinsics_scalar {
inline constexpr KernelId kernel = {22, "intrinsics_scalar"};
enum Binding : int { a = 0, b = 1, out = 2 };
}  // namespace intrinsics_scalar
namespace intrinsics_convert {
inline constexpr KernelId kernel = {23, "intrinsics_convert"};
enum Binding : int { in = 0, out = 1 };
}  // namespace intrinsics_convert
namespace intrinsics_vectors {
inline constexpr KernelId kernel = {24, "intrinsics_vectors"};
enum Binding : int { in = 0, out = 1, halves = 2, bfloats = 3, packed = 4 };
}  // namespace intrinsics_vectors
namespace intrinsics_matrix {
inline constexpr KernelId f32 = {25, "intrinsics_matrix_f32"};
inline constexpr KernelId f16 = {26, "intrinsics_matrix_f16"};
inline constexpr KernelId bf16 = {27, "intrinsics_matrix_bf16"};
enum Binding : int { a = 0, b = 1, out = 2, typed = 3 };
}  // namespace intrinsics_matrix
namespace intrinsics_atomics {
inline constexpr KernelId kernel = {28, "intrinsics_atomics"};
enum Binding : int { ints = 0, uints = 1, floats = 2, seen = 3, shared = 4 };
}  // namespace intrinsics_atomics
namespace intrinsics_simd_float {
inline constexpr KernelId kernel = {29, "intrinsics_simd_float"};
enum Binding : int { in = 0, from = 1, out = 2 };
}  // namespace intrinsics_simd_float
namespace intrinsics_simd_uint {
inline constexpr KernelId kernel = {30, "intrinsics_simd_uint"};
enum Binding : int { in = 0, out = 1 };
}  // namespace intrinsics_simd_uint
namespace intrinsics_positions {
inline constexpr KernelId kernel = {31, "intrinsics_positions"};
enum Binding : int { out = 0 };
}  // namespace intrinsics_positions
inline constexpr int kCount = 32;  // ids are below
}  // namespace pagoda::device::gpu::kernels
