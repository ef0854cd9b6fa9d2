// Metal's keywords and attributes as macros for CUDA, before a kernel's text, which is the same for Metal
// (shim/metal.h).
#pragma once

#define __METAL__
#define __METAL_VERSION__ 310
#define __HAVE_BFLOAT__
#define __MSL_PAIRED_MMA__

// NVIDIA defines these two by the plain words, which are macros below.
#undef __device__
#undef __constant__
#define __device__ __attribute__((__device__))
#define __constant__ __attribute__((__constant__))

#define device
#define thread
#define threadgroup
#define constant const
#define kernel static __device__ __forceinline__
#define MSL_SHARED __shared__ alignas(16)
#define MSL_CONSTANT_TABLE static __constant__ const
// The host passes each constant of a pipeline as a macro, -DMSL_CONSTANT_<name>=<value>.
#define MSL_FUNCTION_CONSTANT(T, NAME, INDEX) static constexpr T NAME = T(MSL_CONSTANT_##NAME);
#define MSL_INSTANCE(NAME, KERNEL, ...)

// The attributes become empty: [[]].
#define buffer(INDEX)
#define max_total_threads_per_threadgroup(COUNT)
#define thread_position_in_grid
#define thread_position_in_threadgroup
#define threadgroup_position_in_grid
#define threads_per_grid
#define threads_per_threadgroup
#define threadgroups_per_grid
#define thread_index_in_threadgroup
#define simdgroup_index_in_threadgroup
#define thread_index_in_simdgroup
#define simdgroups_per_threadgroup
#define threads_per_simdgroup

// A text defines MSL_ENTRY_<kernel> for each of its entry points; -DMSL_ONLY=<kernel> selects the one that is compiled.
#define MSL_GLOBAL(BOUNDS) extern "C" __global__ void __launch_bounds__ BOUNDS MSL_ONLY
#define MSL_ENTRY(NAME) MSL_ENTRY_OF(NAME)
#define MSL_ENTRY_OF(NAME) MSL_ENTRY_##NAME
