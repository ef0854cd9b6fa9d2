// NVRTC, one program for each kernel and set of constants.
#include "device/gpu/cuda/compiler.h"

namespace pagoda::device::gpu::cuda {

Compiler::Compiler(const Nvrtc& nvrtc, int major, int minor)
    : nvrtc_(nvrtc), arch_("--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor)) {}

Result<std::vector<char>> Compiler::compile(std::string_view kernel, std::string_view text,
                                            std::span<const Constant> constants) const {
  // Contraction off: a product and a sum are fused where the text says fma() and nowhere else, as on the other devices.
  std::vector<std::string> options = {
      arch_, "--std=c++17", "--fmad=false", "-default-device", "-lineinfo", "-DMSL_KERNEL_" + std::string(kernel)};
  for (const Constant& c : constants)
    options.push_back("-DMSL_CONSTANT_" + std::string(c.name) + "=" + std::to_string(c.bits) + "u");
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());

  const std::string source(text), name = std::string(kernel) + ".cu";
  Handle program = nullptr;
  int result = nvrtc_.nvrtcCreateProgram(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (result == 0) result = nvrtc_.nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  size_t size = 0;
  std::vector<char> code;
  if (result == 0) result = nvrtc_.nvrtcGetCUBINSize(program, &size);
  if (result == 0) {
    code.resize(size);
    result = nvrtc_.nvrtcGetCUBIN(program, code.data());
  }
  std::string log;
  if (result != 0 && program != nullptr && nvrtc_.nvrtcGetProgramLogSize(program, &size) == 0 && size > 1) {
    log.resize(size);
    if (nvrtc_.nvrtcGetProgramLog(program, log.data()) != 0) log.clear();
    log = log.substr(0, 2000);
  }
  if (program != nullptr) nvrtc_.nvrtcDestroyProgram(&program);
  if (result == 0) return code;
  return make_error(StatusCode::internal, "cuda: kernel " + std::string(kernel) +
                                              " does not compile: " + nvrtc_.nvrtcGetErrorString(result) + "\n" + log);
}

}  // namespace pagoda::device::gpu::cuda
