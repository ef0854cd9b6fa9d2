// Compiler: compiles the CUDA source of one kernel with its function constants to machine code for one kind of GPU, or
// finds it in the cache. Thread rule: any number of threads may compile concurrently; NVRTC allows it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu/backend.h"
#include "device/gpu/cuda/code_cache.h"
#include "device/gpu/cuda/driver.h"
#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu::cuda {

class Compiler {
 public:
  Compiler(const Nvrtc& nvrtc, int major, int minor, CodeCache cache = {});

  std::string version() const;

  // `kernel` is the only entry point of `source` that is compiled; all its constants are given. The message of an error
  // contains the compiler's output.
  Result<std::vector<char>> compile(const KernelInfo& kernel, const KernelSource& source,
                                    std::span<const Constant> constants) const;

 private:
  // A hash of everything the code depends on.
  Hash128Value key(std::string_view text, const std::vector<std::string>& options) const;
  Result<std::vector<char>> run_nvrtc(const KernelInfo& kernel, const std::string& text,
                                      const std::vector<std::string>& options) const;

  Nvrtc nvrtc_;
  std::string arch_;
  CodeCache cache_;
};

}  // namespace pagoda::device::gpu::cuda
