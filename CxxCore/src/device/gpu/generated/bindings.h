// Names of all kernels, of their bindings and of their function constants. Made by Tools/mslc/generate.sh.
#pragma once

#include <string_view>

namespace pagoda::device::gpu::kernels {
namespace rms_norm {
inline constexpr std::string_view kernel = "rms_norm";
enum Binding : int { x = 0, residual = 1, weight = 2, out = 3, args = 4 };
}  // namespace rms_norm
namespace rms_norm_constants {
inline constexpr std::string_view has_residual = "has_residual";
}  // namespace rms_norm_constants
}  // namespace pagoda::device::gpu::kernels
