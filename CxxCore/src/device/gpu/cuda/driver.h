// The few functions of NVIDIA's driver (libcuda) and run-time compiler (NVRTC) that the CUDA backend calls, found at
// run time: building needs nothing from NVIDIA, and a machine without them gets a clear error. The declarations are
// ours, based on the documented C interface. Tests put their own functions into the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/result.h"

namespace pagoda::device::gpu::cuda {

using CudaResult = int;  // 0 is success
using DeviceAddress = uint64_t;
using Handle = void*;  // contexts, streams, modules, functions, graphs, nodes, events: opaque

constexpr CudaResult kCudaSuccess = 0, kCudaOutOfMemory = 2;
constexpr int kMaxDynamicShared = 8;  // an attribute of a function
enum DeviceAttribute : int { kMultiprocessors = 16, kKernelTimeout = 17, kMajor = 75, kMinor = 76 };

// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  Handle function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  void** params = nullptr;  // address of each parameter's value
  void** extra = nullptr;
  Handle kernel = nullptr, context = nullptr;  // used if `function` is null; unused here
};

// CUgraphEdgeData. The ports and the type of an edge whose kernel may start before the other ends, and then waits for
// it itself.
struct EdgeData {
  unsigned char from_port = 0, to_port = 0, type = 0, reserved[5] = {};
};
constexpr EdgeData kProgrammaticEdge = {.from_port = 1, .type = 1};

struct Driver {
  CudaResult (*cuInit)(unsigned);
  CudaResult (*cuDriverGetVersion)(int*);
  CudaResult (*cuGetErrorString)(CudaResult, const char**);
  CudaResult (*cuDeviceGetCount)(int*);
  CudaResult (*cuDeviceGet)(int*, int);
  CudaResult (*cuDeviceGetName)(char*, int, int);
  CudaResult (*cuDeviceGetAttribute)(int*, int, int);
  CudaResult (*cuDeviceTotalMem_v2)(size_t*, int);
  CudaResult (*cuDevicePrimaryCtxRetain)(Handle*, int);
  CudaResult (*cuDevicePrimaryCtxRelease_v2)(int);
  CudaResult (*cuCtxSetCurrent)(Handle);
  CudaResult (*cuStreamCreate)(Handle*, unsigned);
  CudaResult (*cuStreamDestroy_v2)(Handle);
  CudaResult (*cuStreamSynchronize)(Handle);
  CudaResult (*cuMemGetInfo_v2)(size_t* free_bytes, size_t* total_bytes);
  CudaResult (*cuMemAlloc_v2)(DeviceAddress*, size_t);
  CudaResult (*cuMemFree_v2)(DeviceAddress);
  CudaResult (*cuMemHostAlloc)(void**, size_t, unsigned);
  CudaResult (*cuMemHostGetDevicePointer_v2)(DeviceAddress*, void*, unsigned);
  CudaResult (*cuMemFreeHost)(void*);
  CudaResult (*cuMemsetD8Async)(DeviceAddress, unsigned char, size_t, Handle);
  CudaResult (*cuMemcpyHtoDAsync_v2)(DeviceAddress, const void*, size_t, Handle);
  CudaResult (*cuMemcpyDtoHAsync_v2)(void*, DeviceAddress, size_t, Handle);
  CudaResult (*cuModuleLoadData)(Handle*, const void*);
  CudaResult (*cuModuleUnload)(Handle);
  CudaResult (*cuModuleGetFunction)(Handle*, Handle, const char*);
  CudaResult (*cuFuncSetAttribute)(Handle, int, int);
  CudaResult (*cuGraphCreate)(Handle*, unsigned);
  CudaResult (*cuGraphDestroy)(Handle);
  CudaResult (*cuGraphAddKernelNode_v2)(Handle*, Handle, const Handle*, size_t, const KernelNode*);
  CudaResult (*cuGraphInstantiateWithFlags)(Handle*, Handle, unsigned long long);
  CudaResult (*cuGraphExecKernelNodeSetParams_v2)(Handle, Handle, const KernelNode*);
  CudaResult (*cuGraphExecDestroy)(Handle);
  CudaResult (*cuGraphLaunch)(Handle, Handle);
  CudaResult (*cuEventCreate)(Handle*, unsigned);
  CudaResult (*cuEventDestroy_v2)(Handle);
  CudaResult (*cuEventRecord)(Handle, Handle);
  CudaResult (*cuEventSynchronize)(Handle);
  CudaResult (*cuEventElapsedTime)(float*, Handle, Handle);
  CudaResult (*cuGraphAddDependencies_v2)(Handle, const Handle*, const Handle*, const EdgeData*, size_t);  // or null
};

struct Nvrtc {
  const char* (*nvrtcGetErrorString)(int);
  int (*nvrtcVersion)(int*, int*);
  int (*nvrtcCreateProgram)(Handle*, const char*, const char*, int, const char* const*, const char* const*);
  int (*nvrtcDestroyProgram)(Handle*);
  int (*nvrtcCompileProgram)(Handle, int, const char* const*);
  int (*nvrtcGetCUBINSize)(Handle, size_t*);
  int (*nvrtcGetCUBIN)(Handle, char*);
  int (*nvrtcGetProgramLogSize)(Handle, size_t*);
  int (*nvrtcGetProgramLog)(Handle, char*);
};

// Loads the first available library of `names`, permanently (a driver cannot be unloaded safely). `unsupported` if
// there is none, or if one lacks a function; the message contains the names, and the system's error for the last.
Result<Driver> load_driver(std::initializer_list<const char*> names = {"libcuda.so.1", "libcuda.so"});
Result<Nvrtc> load_nvrtc(std::initializer_list<const char*> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                                                     "/usr/local/cuda/lib64/libnvrtc.so"});

// device_error (or out_of_memory) with `what` and the driver's message; ok for kCudaSuccess.
Status cuda_status(const Driver& driver, CudaResult result, const char* what) noexcept;

}  // namespace pagoda::device::gpu::cuda
