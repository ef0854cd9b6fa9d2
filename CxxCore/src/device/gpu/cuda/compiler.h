// Compiler: turns the CUDA text of one kernel and its function constants into machine code for one kind of GPU, or
// finds what was made of the same before. Thread rule: any number of threads compile at once; NVRTC allows it.
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

  // `kernel` is the only entry point that is compiled of `text`; all its constants are given. The message of an error
  // has the compiler's own words.
  Result<std::vector<char>> compile(const KernelInfo& kernel, std::string_view text,
                                    std::span<const Constant> constants) const;

 private:
  // Of everything the code depends on.
  Hash128Value key(std::string_view text, const std::vector<std::string>& options) const;
  Result<std::vector<char>> run_nvrtc(const KernelInfo& kernel, std::string_view text,
                                      const std::vector<std::string>& options) const;

  Nvrtc nvrtc_;
  std::string arch_;
  CodeCache cache_;
};

}  // namespace pagoda::device::gpu::cuda
