// Tests of every function that kernels may call, for any backend created with generated::test_files().
// The software device runs them in every suite; other backends call the same functions from their own tests.
#pragma once

#include "device/gpu/backend.h"

namespace pagoda::device::gpu::test_kernels {

// How far mathematical functions may be from the exact value, in units of float's epsilon times the magnitude.
struct MathTolerance {
  double precise = 4;  // for half too: its rounding is allowed for separately
  double fast = 4;     // fast:: functions of GPUs are less accurate
};

void check_simd_float(Backend& backend);
void check_simd_uint(Backend& backend);
void check_positions(Backend& backend);
void check_unary(Backend& backend, const MathTolerance& tolerance);
void check_scalar(Backend& backend, const MathTolerance& tolerance);
void check_conversions(Backend& backend);
void check_vectors(Backend& backend, const MathTolerance& tolerance);
void check_matrices(Backend& backend);
void check_atomics(Backend& backend);

}  // namespace pagoda::device::gpu::test_kernels
