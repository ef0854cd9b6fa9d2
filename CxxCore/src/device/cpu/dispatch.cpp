// Chooses kernels at run time.
#include "device/cpu/dispatch.h"

#include "base/arm_features.h"

namespace pagoda::device::cpu {

namespace {

// `base` with a different set of packed-weight kernels.
Kernels with_packed(const Kernels& base, const char* name, const Packed& packed) noexcept {
  Kernels kernels = base;
  kernels.name = name;
  kernels.packed = packed;
  return kernels;
}

std::vector<Kernels> find_supported() {
  std::vector<Kernels> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool has_vnni = has_avx512 && __builtin_cpu_supports("avx512vnni");
#if defined(__linux__)
  if (has_vnni && amx::request_permission()) {
    Kernels& kernels = found.emplace_back(with_packed(avx512::kKernels, "amx", amx::kPacked));
    kernels.attention[kBf16] = amx::attention;
    kernels.attend_partition[kBf16] = amx::attend_partition;
  }
#endif
  Packed with_bf16 = vnni::kPacked;
  with_bf16.matmul[kPackedBf16] = avx512bf16::matmul_bf16;
  const bool has_bf16 = has_vnni && __builtin_cpu_supports("avx512bf16"), prefers_bf16 = __builtin_cpu_is("amd");
  if (has_bf16 && prefers_bf16) found.push_back(with_packed(avx512::kKernels, "avx512bf16", with_bf16));
  if (has_vnni) found.push_back(with_packed(avx512::kKernels, "avx512vnni", vnni::kPacked));
  if (has_bf16 && !prefers_bf16) found.push_back(with_packed(avx512::kKernels, "avx512bf16", with_bf16));
  if (has_avx512) found.push_back(avx512::kKernels);
  if (has_avx2) found.push_back(avx2::kKernels);
#elif defined(__aarch64__)
  const ArmFeatures has = arm_features();
  if (has.i8mm && has.bf16) found.push_back(with_packed(neon::kKernels, "neon-i8mm", i8mm::kPacked));
  if (has.dotprod) found.push_back(with_packed(neon::kKernels, "neon-dotprod", dotprod::kPacked));
  found.push_back(neon::kKernels);
#endif
  found.push_back(portable::kKernels);
  return found;
}

}  // namespace

std::vector<const Kernels*> supported_kernels() {
  // Never destroyed: a program may exit while an engine runs, whose threads then still use it.
  static const std::vector<Kernels>& found = *new std::vector<Kernels>(find_supported());
  std::vector<const Kernels*> pointers;
  for (const Kernels& kernels : found) pointers.push_back(&kernels);
  return pointers;
}

const Kernels* find_kernels(const std::string& name) {
  for (const Kernels* kernels : supported_kernels())
    if (name.empty() || name == kernels->name) return kernels;
  return nullptr;
}

}  // namespace pagoda::device::cpu
