// Hashes the kernel sources.
#include "device/gpu/kernels_version.h"

#include <sys/utsname.h>

#include <string_view>

#include "base/hash128.h"
#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu {
namespace {

std::string with_system_release(Hash128& hash) {
  utsname system{};
  if (uname(&system) == 0) hash.add(std::string_view(system.release));
  return hash.value().text();
}

}  // namespace

std::string metal_kernels_version() {
  Hash128 hash;
  for (const KernelFile& file : generated::files()) hash.add(metal_text(file.source));
  return with_system_release(hash);
}

std::string cuda_kernels_version() {
  Hash128 hash;
  for (const KernelFile& file : generated::files()) hash.add(cuda_text(file.source));
  return with_system_release(hash);
}

}  // namespace pagoda::device::gpu
