// The choice of kernels at run time.
#include "device/cpu/dispatch.h"

namespace pagoda::device::cpu {

std::vector<const Kernels*> supported_kernels() {
  std::vector<const Kernels*> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) found.push_back(&avx512::kKernels);
  if (has_avx2) found.push_back(&avx2::kKernels);
#elif defined(__aarch64__)
  found.push_back(&neon::kKernels);
#endif
  found.push_back(&portable::kKernels);
  return found;
}

const Kernels* find_kernels(const std::string& name) {
  for (const Kernels* kernels : supported_kernels())
    if (name.empty() || name == kernels->name) return kernels;
  return nullptr;
}

}  // namespace pagoda::device::cpu
