// Opening NVIDIA's libraries and finding functions in them.
#include "device/gpu/cuda/driver.h"

#include <dlfcn.h>

#include <string>

#include "base/concat.h"

namespace pagoda::device::gpu::cuda {
namespace {

class Library {
 public:
  Library(const char* what, std::initializer_list<const char*> names) {
    std::string tried;
    for (const char* name : names) {
      name_ = name;
      handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
      const char* error = dlerror();
      tried += std::string(tried.empty() ? "" : "; ") + (error != nullptr ? error : name);
    }
    status_ = make_error(StatusCode::unsupported, std::string("cuda: ") + what + " cannot be opened here: " + tried);
  }

  template <class Function>
  void find(Function& function, const char* name) {
    function = handle_ != nullptr ? reinterpret_cast<Function>(dlsym(handle_, name)) : nullptr;
    if (function == nullptr && status_.is_ok())
      status_ = make_error(StatusCode::unsupported, "cuda: " + name_ + " has no " + name + ": it is too old");
  }
  // A function that older versions lack; null then.
  template <class Function>
  void find_newer(Function& function, const char* name) {
    function = handle_ != nullptr ? reinterpret_cast<Function>(dlsym(handle_, name)) : nullptr;
  }
  const Status& status() const { return status_; }

 private:
  void* handle_ = nullptr;
  std::string name_;
  Status status_;
};

}  // namespace

#define FIND(function) library.find(table.function, #function)

Result<Driver> load_driver(std::initializer_list<const char*> names) {
  Library library("NVIDIA's driver", names);
  Driver table{};
  FIND(cuInit);
  FIND(cuDriverGetVersion);
  FIND(cuGetErrorString);
  FIND(cuDeviceGetCount);
  FIND(cuDeviceGet);
  FIND(cuDeviceGetName);
  FIND(cuDeviceGetAttribute);
  FIND(cuDeviceTotalMem_v2);
  FIND(cuDevicePrimaryCtxRetain);
  FIND(cuDevicePrimaryCtxRelease_v2);
  FIND(cuCtxSetCurrent);
  FIND(cuStreamCreate);
  FIND(cuStreamDestroy_v2);
  FIND(cuStreamSynchronize);
  FIND(cuMemGetInfo_v2);
  FIND(cuMemAlloc_v2);
  FIND(cuMemFree_v2);
  FIND(cuMemHostAlloc);
  FIND(cuMemHostGetDevicePointer_v2);
  FIND(cuMemFreeHost);
  FIND(cuMemsetD8Async);
  FIND(cuMemcpyHtoDAsync_v2);
  FIND(cuMemcpyDtoHAsync_v2);
  FIND(cuModuleLoadData);
  FIND(cuModuleUnload);
  FIND(cuModuleGetFunction);
  FIND(cuFuncSetAttribute);
  FIND(cuGraphCreate);
  FIND(cuGraphDestroy);
  FIND(cuGraphAddKernelNode_v2);
  FIND(cuGraphInstantiateWithFlags);
  FIND(cuGraphExecKernelNodeSetParams_v2);
  FIND(cuGraphExecDestroy);
  FIND(cuGraphLaunch);
  FIND(cuEventCreate);
  FIND(cuEventDestroy_v2);
  FIND(cuEventRecord);
  FIND(cuEventSynchronize);
  FIND(cuEventElapsedTime);
  library.find_newer(table.cuGraphAddDependencies_v2, "cuGraphAddDependencies_v2");
  if (!library.status().is_ok()) return library.status();
  return table;
}

Result<Nvrtc> load_nvrtc(std::initializer_list<const char*> names) {
  Library library("the run-time compiler NVRTC (it comes with the CUDA toolkit)", names);
  Nvrtc table{};
  FIND(nvrtcGetErrorString);
  FIND(nvrtcVersion);
  FIND(nvrtcCreateProgram);
  FIND(nvrtcDestroyProgram);
  FIND(nvrtcCompileProgram);
  FIND(nvrtcGetCUBINSize);
  FIND(nvrtcGetCUBIN);
  FIND(nvrtcGetProgramLogSize);
  FIND(nvrtcGetProgramLog);
  if (!library.status().is_ok()) return library.status();
  return table;
}

#undef FIND

Status cuda_status(const Driver& driver, CudaResult result, const char* what) noexcept {
  if (result == kCudaSuccess) return ok_status();
  const char* text = nullptr;
  driver.cuGetErrorString(result, &text);
  const StatusCode code = result == kCudaOutOfMemory ? StatusCode::out_of_memory : StatusCode::device_error;
  return make_error(code, concat("cuda: ", what, ": ", text != nullptr ? text : "unknown error", " (", result, ")"));
}

}  // namespace pagoda::device::gpu::cuda
