// Names of all kernels, of their bindings and of their function constants. Made by Tools/mslc/generate.sh.
#pragma once

#include <string_view>

namespace pagoda::device::gpu::kernels {
namespace defect_good {
inline constexpr std::string_view kernel = "defect_good";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_good
namespace defect_oob_read {
inline constexpr std::string_view kernel = "defect_oob_read";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_read
namespace defect_oob_write {
inline constexpr std::string_view kernel = "defect_oob_write";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_write
namespace defect_oob_far {
inline constexpr std::string_view kernel = "defect_oob_far";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_far
namespace defect_oob_threadgroup {
inline constexpr std::string_view kernel = "defect_oob_threadgroup";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_oob_threadgroup
namespace defect_race_no_barrier {
inline constexpr std::string_view kernel = "defect_race_no_barrier";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_no_barrier
namespace defect_race_in_simdgroup {
inline constexpr std::string_view kernel = "defect_race_in_simdgroup";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_in_simdgroup
namespace defect_race_reuse {
inline constexpr std::string_view kernel = "defect_race_reuse";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_reuse
namespace defect_race_wrong_flags {
inline constexpr std::string_view kernel = "defect_race_wrong_flags";
enum Binding : int { in = 0, out = 1, scratch = 2 };
}  // namespace defect_race_wrong_flags
namespace defect_race_groups {
inline constexpr std::string_view kernel = "defect_race_groups";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_race_groups
namespace defect_uninit_threadgroup {
inline constexpr std::string_view kernel = "defect_uninit_threadgroup";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_uninit_threadgroup
namespace defect_uninit_local {
inline constexpr std::string_view kernel = "defect_uninit_local";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_uninit_local
namespace defect_divergent_barrier {
inline constexpr std::string_view kernel = "defect_divergent_barrier";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_divergent_barrier
namespace defect_early_return {
inline constexpr std::string_view kernel = "defect_early_return";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_early_return
namespace defect_divergent_simd {
inline constexpr std::string_view kernel = "defect_divergent_simd";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_divergent_simd
namespace defect_two_sites {
inline constexpr std::string_view kernel = "defect_two_sites";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_two_sites
namespace defect_matrix_pointer {
inline constexpr std::string_view kernel = "defect_matrix_pointer";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_matrix_pointer
namespace defect_misaligned {
inline constexpr std::string_view kernel = "defect_misaligned";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_misaligned
namespace defect_threadgroup_too_large {
inline constexpr std::string_view kernel = "defect_threadgroup_too_large";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_threadgroup_too_large
namespace defect_endless {
inline constexpr std::string_view kernel = "defect_endless";
enum Binding : int { in = 0, out = 1 };
}  // namespace defect_endless
namespace intrinsics_unary {
inline constexpr std::string_view f32 = "intrinsics_unary_f32";
inline constexpr std::string_view f16 = "intrinsics_unary_f16";
enum Binding : int { in = 0, out = 1 };
}  // namespace intrinsics_unary
namespace intrinsics_scalar {
inline constexpr std::string_view kernel = "intrinsics_scalar";
enum Binding : int { a = 0, b = 1, out = 2 };
}  // namespace intrinsics_scalar
namespace intrinsics_convert {
inline constexpr std::string_view kernel = "intrinsics_convert";
enum Binding : int { in = 0, out = 1 };
}  // namespace intrinsics_convert
namespace intrinsics_vectors {
inline constexpr std::string_view kernel = "intrinsics_vectors";
enum Binding : int { in = 0, out = 1, halves = 2, bfloats = 3, packed = 4 };
}  // namespace intrinsics_vectors
namespace intrinsics_matrix {
inline constexpr std::string_view f32 = "intrinsics_matrix_f32";
inline constexpr std::string_view f16 = "intrinsics_matrix_f16";
inline constexpr std::string_view bf16 = "intrinsics_matrix_bf16";
enum Binding : int { a = 0, b = 1, out = 2, typed = 3 };
}  // namespace intrinsics_matrix
namespace intrinsics_atomics {
inline constexpr std::string_view kernel = "intrinsics_atomics";
enum Binding : int { ints = 0, uints = 1, floats = 2, seen = 3, shared = 4 };
}  // namespace intrinsics_atomics
namespace intrinsics_simd_float {
inline constexpr std::string_view kernel = "intrinsics_simd_float";
enum Binding : int { in = 0, from = 1, out = 2 };
}  // namespace intrinsics_simd_float
namespace intrinsics_simd_uint {
inline constexpr std::string_view kernel = "intrinsics_simd_uint";
enum Binding : int { in = 0, out = 1 };
}  // namespace intrinsics_simd_uint
namespace intrinsics_positions {
inline constexpr std::string_view kernel = "intrinsics_positions";
enum Binding : int { out = 0 };
}  // namespace intrinsics_positions
}  // namespace pagoda::device::gpu::kernels
