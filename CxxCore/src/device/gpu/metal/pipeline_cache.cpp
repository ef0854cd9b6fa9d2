// Source to library to function to pipeline, with the archive checked first.
#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/gpu/metal/enabled.h"
#ifdef PAGODA_METAL

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "device/gpu/launch_checks.h"
#include "device/gpu/metal/pipeline_cache.h"
#include "device/gpu/tensor_texts.h"

namespace pagoda::device::gpu::metal {

namespace {

MTL::DataType data_type(ConstantType type) {
  switch (type) {
    case ConstantType::bool_: return MTL::DataTypeBool;
    case ConstantType::int_: return MTL::DataTypeInt;
    case ConstantType::uint_: return MTL::DataTypeUInt;
    case ConstantType::float_: return MTL::DataTypeFloat;
  }
  return MTL::DataTypeBool;
}

NS::URL* url_of(const std::string& path) { return NS::URL::fileURLWithPath(text_of(path)); }

}  // namespace

PipelineCache::PipelineCache(MTL::Device* device, std::span<const KernelFile> files, std::string cache_folder)
    : device_(device), files_(files) {
  const Pool pool;
  std::error_code failed;
  std::filesystem::create_directories(cache_folder, failed);
  if (cache_folder.empty() || failed) return;
  const std::string system = NS::ProcessInfo::processInfo()->operatingSystemVersionString()->utf8String();
  path_ = cache_folder + "/" + key(files, device->name()->utf8String(), system) + ".metalarchive";
  open_archive();
}

std::string PipelineCache::key(std::span<const KernelFile> files, std::string_view device, std::string_view system) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    hash = (hash ^ 0xff) * 0x100000001b3u;  // separates texts
  };
  for (const KernelFile& file : files) add(metal_text(file.source));
  add(kMathOptions);
  add(device);
  add(system);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

// A file that Metal rejects (truncated, or from another compiler) is replaced by an empty archive.
void PipelineCache::open_archive() {
  auto descriptor = NS::TransferPtr(MTL::BinaryArchiveDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  std::error_code none;
  if (std::filesystem::exists(path_, none)) {
    descriptor->setUrl(url_of(path_));
    archive_ = NS::TransferPtr(device_->newBinaryArchive(descriptor.get(), &error));
    if (archive_) return;
    descriptor->setUrl(nullptr);
  }
  archive_ = NS::TransferPtr(device_->newBinaryArchive(descriptor.get(), &error));
}

void PipelineCache::save() {
  if (!archive_ || !archive_grew_) return;
  const Pool pool;
  archive_grew_ = false;
  const std::string unfinished = concat(path_, ".", getpid());
  NS::Error* error = nullptr;
  std::error_code none;
  if (archive_->serializeToURL(url_of(unfinished), &error)) std::filesystem::rename(unfinished, path_, none);
  else std::filesystem::remove(unfinished, none);
}

const KernelSource* PipelineCache::source(std::string_view file) const {
  for (const KernelFile& candidate : files_)
    if (candidate.source.file == file) return &candidate.source;
  return nullptr;
}

Result<MTL::Library*> PipelineCache::library(const KernelInfo& kernel) {
  const std::string_view file = kernel.file;
  const KernelSource* text = source(file);
  const std::string_view part = text && is_instance(*text, kernel.name) ? kernel.name : file;
  if (auto cached = libraries_.find(part); cached != libraries_.end()) return cached->second.get();
  if (text == nullptr) return make_error(StatusCode::internal, "no text of " + std::string(file) + ".metal");
  if (has_tensors(*text) && !compiles_tensors())
    return make_error(StatusCode::unsupported, std::string(file) + ".metal: this system has no tensor operations");
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setLanguageVersion(has_tensors(*text) ? MTL::LanguageVersion4_0 : MTL::LanguageVersion3_1);  // 3.1: bfloat
  use_exact_math(options.get());
  NS::Error* error = nullptr;
  auto made = NS::TransferPtr(device_->newLibrary(text_of(metal_text(*text, kernel.name)), options.get(), &error));
  if (!made)
    return make_error(StatusCode::internal,
                      "Metal does not compile " + std::string(file) + ".metal: " + message_of(error));
  return (libraries_[part] = made).get();
}

Result<NS::SharedPtr<MTL::Function>> PipelineCache::function(const MetalPipeline& pipeline) {
  PAGODA_ASSIGN_OR_RETURN(auto from, library(*pipeline.kernel));
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (size_t i = 0; i < pipeline.constants.size(); ++i) {
    const ConstantInfo& info = pipeline.kernel->constants[i];
    const bool as_bool = pipeline.constants[i] != 0;
    const void* value = info.type == ConstantType::bool_ ? static_cast<const void*>(&as_bool) : &pipeline.constants[i];
    values->setConstantValue(value, data_type(info.type), static_cast<NS::UInteger>(info.index));
  }
  NS::Error* error = nullptr;
  auto made = NS::TransferPtr(from->newFunction(text_of(pipeline.kernel->name), values.get(), &error));
  if (!made)
    return make_error(StatusCode::internal,
                      "Metal finds no function " + std::string(pipeline.kernel->name) + ": " + message_of(error));
  return made;
}

Status PipelineCache::compile(MetalPipeline& pipeline) {
  const std::string name(pipeline.kernel->name);
  PAGODA_ASSIGN_OR_RETURN(auto entry, function(pipeline));
  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setLabel(text_of(name));
  descriptor->setComputeFunction(entry.get());
  descriptor->setMaxTotalThreadsPerThreadgroup(pipeline.kernel->max_threads);
  // Tensor operations are compiled again by every process: those in an archive have not been tested.
  const bool is_archived = archive_ && !has_tensors(*source(pipeline.kernel->file));
  if (is_archived) descriptor->setBinaryArchives(NS::Array::array(archive_.get()));
  NS::Error* error = nullptr;
  const auto make = [&](MTL::PipelineOption option) {
    return NS::TransferPtr(device_->newComputePipelineState(descriptor.get(), option, nullptr, &error));
  };
  if (is_archived) pipeline.state = make(MTL::PipelineOptionFailOnBinaryArchiveMiss);
  if (!pipeline.state) {
    pipeline.state = make(MTL::PipelineOptionNone);
    NS::Error* ignored = nullptr;
    if (pipeline.state && is_archived)
      archive_grew_ |= archive_->addComputePipelineFunctions(descriptor.get(), &ignored);
  }
  if (!pipeline.state)
    return make_error(StatusCode::internal, name + ": Metal makes no pipeline: " + message_of(error));
  if (pipeline.state->threadExecutionWidth() != 32)
    return make_error(StatusCode::unsupported,
                      concat(name, ": simdgroups of ", pipeline.state->threadExecutionWidth(), " threads, not 32"));
  if (pipeline.state->maxTotalThreadsPerThreadgroup() < pipeline.kernel->max_threads)
    return make_error(StatusCode::unsupported,
                      concat(name, ": this GPU runs ", pipeline.state->maxTotalThreadsPerThreadgroup(),
                             " threads a threadgroup, not ", pipeline.kernel->max_threads));
  return ok_status();
}

Result<const MetalPipeline*> PipelineCache::find_or_make(std::string_view name, std::span<const Constant> constants) {
  const Pool pool;
  auto made = std::make_unique<MetalPipeline>();
  PAGODA_ASSIGN_OR_RETURN(made->kernel, check_pipeline(files_, name, constants));
  made->constants = constant_bits(*made->kernel, constants);
  for (const auto& cached : pipelines_)
    if (cached->kernel == made->kernel && cached->constants == made->constants) return cached.get();
  PAGODA_RETURN_IF_ERROR(compile(*made));
  pipelines_.push_back(std::move(made));
  return pipelines_.back().get();
}

}  // namespace pagoda::device::gpu::metal
#endif
