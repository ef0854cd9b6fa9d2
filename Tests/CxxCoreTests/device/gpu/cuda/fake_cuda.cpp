// The functions of the fake driver.
#include "device/gpu/cuda/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace pagoda::test {

using namespace device::gpu::cuda;

FakeCuda& fake_cuda() {
  static FakeCuda fake;
  return fake;
}

namespace {

CudaResult note_call(const std::string& call, const std::string& details = "") {
  static std::mutex lock;  // kernels are compiled in parallel
  const std::lock_guard<std::mutex> hold(lock);
  if (fake_cuda().keeps_diary) fake_cuda().diary.push_back(details.empty() ? call : call + " " + details);
  return fake_cuda().fail_call == call ? fake_cuda().fail_result : 0;
}
CudaResult quiet(const char* call) { return fake_cuda().fail_call == call ? fake_cuda().fail_result : 0; }

template <class T>
Handle handle(T number) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number));
}
uintptr_t number_of(Handle h) { return reinterpret_cast<uintptr_t>(h); }

std::string words(const KernelNode& node) {
  DeviceAddress first;
  std::memcpy(&first, node.params[0], sizeof first);
  float second;
  std::memcpy(&second, node.params[1], sizeof second);
  return "f" + std::to_string(number_of(node.function)) + " grid " + std::to_string(node.grid_x) + " block " +
         std::to_string(node.block_x) + " value " + std::to_string(second) + (first != 0 ? "" : " null");
}

}  // namespace

Driver fake_driver() {
  Driver d{};
  d.cuInit = [](unsigned) { return quiet("cuInit"); };
  d.cuDriverGetVersion = [](int* version) {
    *version = 13000;
    return 0;
  };
  d.cuGetErrorString = [](CudaResult r, const char** text) {
    *text = r == 2 ? "out of memory" : r == 700 ? "an illegal memory access was encountered" : nullptr;
    return 0;
  };
  d.cuDeviceGetCount = [](int* n) {
    *n = fake_cuda().num_gpus;
    return 0;
  };
  d.cuDeviceGet = [](int* device, int) {
    *device = 0;
    return 0;
  };
  d.cuDeviceGetName = [](char* name, int size, int) {
    std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
    return 0;
  };
  d.cuDeviceGetAttribute = [](int* value, int attribute, int) {
    *value = attribute == kMajor ? fake_cuda().major : attribute == kMultiprocessors ? 132 : 0;
    return 0;
  };
  d.cuDeviceTotalMem_v2 = [](size_t* bytes, int) {
    *bytes = 1000;
    return 0;
  };
  d.cuMemGetInfo_v2 = [](size_t* free_bytes, size_t* total_bytes) {
    *free_bytes = fake_cuda().free_bytes;
    *total_bytes = 1000;
    return 0;
  };
  d.cuDevicePrimaryCtxRetain = [](Handle* context, int) {
    *context = handle(1);
    ++fake_cuda().live_contexts;
    return 0;
  };
  d.cuDevicePrimaryCtxRelease_v2 = [](int) {
    --fake_cuda().live_contexts;
    return 0;
  };
  d.cuCtxSetCurrent = [](Handle) { return 0; };
  d.cuStreamCreate = [](Handle* stream, unsigned) {
    *stream = handle(2);
    const CudaResult result = quiet("cuStreamCreate");
    if (result == 0) ++fake_cuda().live_streams;
    return result;
  };
  d.cuStreamDestroy_v2 = [](Handle) {
    --fake_cuda().live_streams;
    return 0;
  };
  d.cuStreamSynchronize = [](Handle) { return quiet("cuStreamSynchronize"); };
  d.cuMemAlloc_v2 = [](DeviceAddress* address, size_t bytes) {
    if (const CudaResult result = quiet("cuMemAlloc_v2"); result != 0) return result;
    *address = reinterpret_cast<DeviceAddress>(std::malloc(bytes));
    ++fake_cuda().live_buffers;
    return 0;
  };
  d.cuMemFree_v2 = [](DeviceAddress address) {
    std::free(reinterpret_cast<void*>(address));
    --fake_cuda().live_buffers;
    return 0;
  };
  d.cuMemHostAlloc = [](void** host, size_t bytes, unsigned) {
    if (const CudaResult result = quiet("cuMemHostAlloc"); result != 0) return result;
    *host = std::malloc(bytes);
    ++fake_cuda().live_buffers;
    return 0;
  };
  d.cuMemHostGetDevicePointer_v2 = [](DeviceAddress* address, void* host, unsigned) {
    *address = reinterpret_cast<DeviceAddress>(host);
    return quiet("cuMemHostGetDevicePointer_v2");
  };
  d.cuMemFreeHost = [](void* host) {
    std::free(host);
    --fake_cuda().live_buffers;
    return 0;
  };
  d.cuMemsetD8Async = [](DeviceAddress address, unsigned char value, size_t bytes, Handle) {
    std::memset(reinterpret_cast<void*>(address), value, bytes);
    return 0;
  };
  d.cuMemcpyHtoDAsync_v2 = [](DeviceAddress to, const void* from, size_t bytes, Handle) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return quiet("cuMemcpyHtoDAsync_v2");
  };
  d.cuMemcpyDtoHAsync_v2 = [](void* to, DeviceAddress from, size_t bytes, Handle) {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return 0;
  };
  d.cuModuleLoadData = [](Handle* module, const void*) {
    *module = handle(3);
    ++fake_cuda().live_modules;
    return 0;
  };
  d.cuModuleUnload = [](Handle) {
    --fake_cuda().live_modules;
    return 0;
  };
  d.cuModuleGetFunction = [](Handle* function, Handle, const char* name) {
    static int made = 0;
    *function = handle(++made);
    return note_call("function", name);
  };
  d.cuFuncSetAttribute = [](Handle, int attribute, int value) {
    return fake_cuda().keeps_diary ? note_call("attribute", std::to_string(attribute) + " " + std::to_string(value))
                                   : 0;
  };
  d.cuGraphCreate = [](Handle* graph, unsigned) {
    *graph = handle(5);
    ++fake_cuda().live_graphs;
    return 0;
  };
  d.cuGraphDestroy = [](Handle) {
    --fake_cuda().live_graphs;
    return 0;
  };
  d.cuGraphAddKernelNode_v2 = [](Handle* node, Handle, const Handle* after, size_t count, const KernelNode* args) {
    static uintptr_t made = 100;
    *node = handle(++made);
    std::string details = words(*args);
    for (size_t i = 0; i < count; ++i) details += " after -" + std::to_string(made - number_of(after[i]));
    return note_call("add", details);
  };
  d.cuGraphAddDependencies_v2 = [](Handle, const Handle*, const Handle*, const EdgeData* data, size_t count) {
    return note_call("edge", "of " + std::to_string(count) + " ports " + std::to_string(data->from_port) + " " +
                                 std::to_string(data->to_port) + " type " + std::to_string(data->type));
  };
  d.cuGraphInstantiateWithFlags = [](Handle* exec, Handle, unsigned long long) {
    *exec = handle(6);
    return note_call("instantiate");
  };
  d.cuGraphExecKernelNodeSetParams_v2 = [](Handle, Handle, const KernelNode* args) {
    return fake_cuda().keeps_diary ? note_call("set", words(*args)) : 0;
  };
  d.cuGraphExecDestroy = [](Handle) { return 0; };
  d.cuEventCreate = [](Handle*, unsigned) { return 0; };
  d.cuEventDestroy_v2 = [](Handle) { return 0; };
  d.cuEventRecord = [](Handle, Handle) { return 0; };
  d.cuEventSynchronize = [](Handle) { return note_call("event"); };
  d.cuEventElapsedTime = [](float* ms, Handle, Handle) {
    *ms = 0.25f;
    return 0;
  };
  d.cuGraphLaunch = [](Handle, Handle) { return note_call("launch"); };
  return d;
}

Nvrtc fake_nvrtc() {
  Nvrtc n{};
  n.nvrtcGetErrorString = [](int) { return "NVRTC_ERROR_COMPILATION"; };
  n.nvrtcVersion = [](int* major, int* minor) {
    *major = fake_cuda().nvrtc_major;
    *minor = 4;
    return 0;
  };
  n.nvrtcCreateProgram = [](Handle* program, const char*, const char*, int, const char* const*, const char* const*) {
    *program = handle(7);
    return 0;
  };
  n.nvrtcDestroyProgram = [](Handle*) { return 0; };
  n.nvrtcCompileProgram = [](Handle, int count, const char* const* options) {
    std::string all;
    for (int i = 0; i < count; ++i) all += std::string(i > 0 ? " " : "") + options[i];
    return note_call("compile", all);
  };
  n.nvrtcGetCUBINSize = [](Handle, size_t* size) {
    *size = 4;
    return 0;
  };
  n.nvrtcGetCUBIN = [](Handle, char* to) {
    std::memcpy(to, "code", 4);
    return 0;
  };
  constexpr static char kLog[] = "adder.cu(1): error: expected a declaration";
  n.nvrtcGetProgramLogSize = [](Handle, size_t* size) {
    *size = sizeof kLog;
    return 0;
  };
  n.nvrtcGetProgramLog = [](Handle, char* to) {
    std::memcpy(to, kLog, sizeof kLog);
    return 0;
  };
  return n;
}

}  // namespace pagoda::test
