// PipelineCache: compiles kernels from source, once per name and set of constants; keeps the machine code in a binary
// archive between runs. The archive's name contains a hash of all sources, the GPU and the system, so that a change of
// any starts a new one. State: a library per file, pipelines, the archive. Thread rule: Backend's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/gpu/backend.h"
#include "device/gpu/kernel_table.h"
#include "device/gpu/metal/metal_cpp.h"

namespace pagoda::device::gpu::metal {

struct MetalPipeline final : Pipeline {
  const KernelInfo* kernel = nullptr;
  std::vector<uint32_t> constants;  // bits, in the order of kernel->constants
  NS::SharedPtr<MTL::ComputePipelineState> state;
};

class PipelineCache {
 public:
  PipelineCache(MTL::Device* device, std::span<const KernelFile> files, std::string cache_folder);

  Result<const MetalPipeline*> find_or_make(std::string_view kernel, std::span<const Constant> constants);
  // Writes the pipelines compiled since the last call. A failure to write is not an error: the next run compiles them
  // again.
  void save();
  // Whether the system compiles sources with tensor operations; requesting their language version elsewhere may end the
  // process.
  bool compiles_tensors() const { return device_->supportsFamily(MTL::GPUFamilyMetal4); }
  // Hash of all sources, the GPU and the system.
  static std::string key(std::span<const KernelFile> files, std::string_view device, std::string_view system);

 private:
  void open_archive();
  const KernelSource* source(std::string_view file) const;
  Result<MTL::Library*> library(const KernelInfo& kernel);
  Result<NS::SharedPtr<MTL::Function>> function(const MetalPipeline& pipeline);
  Status compile(MetalPipeline& pipeline);

  MTL::Device* device_;
  std::span<const KernelFile> files_;
  std::string path_;  // of the archive; empty: none
  NS::SharedPtr<MTL::BinaryArchive> archive_;
  bool archive_grew_ = false;
  std::map<std::string_view, NS::SharedPtr<MTL::Library>> libraries_;  // by file, or by instance of a template
  std::vector<std::unique_ptr<MetalPipeline>> pipelines_;
};

}  // namespace pagoda::device::gpu::metal
