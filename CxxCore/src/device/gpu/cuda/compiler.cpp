// NVRTC, one program for each kernel and set of constants.
#include "device/gpu/cuda/compiler.h"

#include <bit>
#include <cstdio>

#include "base/concat.h"

namespace pagoda::device::gpu::cuda {
namespace {

// A constant as the text of a C++ literal; floats in hexadecimal, which is exact.
std::string literal(ConstantType type, uint32_t bits) {
  char text[64];
  switch (type) {
    case ConstantType::bool_: return bits != 0 ? "true" : "false";
    case ConstantType::int_: return std::to_string(static_cast<int32_t>(bits));
    case ConstantType::uint_: return concat(bits, "u");
    case ConstantType::float_: std::snprintf(text, sizeof text, "%af", std::bit_cast<float>(bits)); return text;
  }
  return {};
}

// Contraction off: a product and a sum are fused only where the source uses fma(), as on the software device.
std::vector<std::string> options_of(const KernelInfo& kernel, std::span<const Constant> constants) {
  std::vector<std::string> options = {"--std=c++17", "--fmad=false", "-default-device", "--generate-line-info",
                                      "-DMSL_ONLY=" + std::string(kernel.name)};
  for (const ConstantInfo& info : kernel.constants)
    for (const Constant& given : constants)
      if (given.name == info.name)
        options.push_back("-DMSL_CONSTANT_" + std::string(info.name) + "=" + literal(info.type, given.bits));
  return options;
}

}  // namespace

Compiler::Compiler(const Nvrtc& nvrtc, int major, int minor, CodeCache cache)
    : nvrtc_(nvrtc), arch_(concat("--gpu-architecture=sm_", major, minor)), cache_(std::move(cache)) {}

Hash128Value Compiler::key(std::string_view text, const std::vector<std::string>& options) const {
  int major = 0, minor = 0;
  nvrtc_.nvrtcVersion(&major, &minor);
  Hash128 hash;
  hash.add(static_cast<uint64_t>(major));
  hash.add(static_cast<uint64_t>(minor));
  for (const std::string& option : options) hash.add(option);
  hash.add(text);
  return hash.value();
}

std::string Compiler::version() const {
  int major = 0, minor = 0;
  nvrtc_.nvrtcVersion(&major, &minor);
  return concat("NVRTC ", major, ".", minor);
}

Result<std::vector<char>> Compiler::compile(const KernelInfo& kernel, const KernelSource& source,
                                            std::span<const Constant> constants) const {
  std::vector<std::string> options = options_of(kernel, constants);
  // Only there does the compiler know the instructions of matmul_wide; all other code stays as it is.
  const bool is_wide = kernel.file == "matmul_wide" && arch_.ends_with("sm_90");
  options.push_back(is_wide ? arch_ + "a" : arch_);
  const std::string text = cuda_text(source);
  if (!cache_.is_open()) return run_nvrtc(kernel, text, options);
  const Hash128Value key_of_code = key(text, options);
  if (std::vector<char> found = cache_.find(key_of_code); !found.empty()) return found;
  Result<std::vector<char>> code = run_nvrtc(kernel, text, options);
  if (code.is_ok()) cache_.put(key_of_code, *code);
  return code;
}

Result<std::vector<char>> Compiler::run_nvrtc(const KernelInfo& kernel, const std::string& text,
                                              const std::vector<std::string>& options) const {
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());

  const std::string name = std::string(kernel.file) + ".metal";
  Handle program = nullptr;
  int result = nvrtc_.nvrtcCreateProgram(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr);
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
  return make_error(StatusCode::internal, "cuda: kernel " + std::string(kernel.name) +
                                              " does not compile: " + nvrtc_.nvrtcGetErrorString(result) + "\n" + log);
}

}  // namespace pagoda::device::gpu::cuda
