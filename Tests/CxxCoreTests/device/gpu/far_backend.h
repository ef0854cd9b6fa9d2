// FarBackend: the software backend with memory that the host cannot access, like a graphics card's; counts the fetches
// from it, and threadgroups.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu/software/software_backend.h"
#include "device/uploads.h"

namespace pagoda::device::gpu {

class FarBackend final : public Backend, public CopiesBeside {
 public:
  struct Counts {
    int64_t downloaded_bytes = 0;
    int64_t threadgroups = 0;  // launched
  };

  FarBackend(std::unique_ptr<software::SoftwareBackend> inner, Counts& counts)
      : inner_(std::move(inner)), counts_(counts) {}

  const DeviceInfo& info() const noexcept override { return inner_->info(); }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    auto near = inner_->allocate(size_bytes, label);
    if (!near.is_ok()) return near.status;
    return std::unique_ptr<Buffer>(std::make_unique<FarBuffer>(std::move(*near)));
  }
  Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept override {
    return inner_->upload(near(to), offset_bytes, from, size_bytes);
  }
  Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept override {
    counts_.downloaded_bytes += static_cast<int64_t>(size_bytes);
    return inner_->download(near(from), offset_bytes, to, size_bytes);
  }
  Status upload_beside(std::span<const Upload> uploads) noexcept override {
    std::vector<Upload> nearer(uploads.begin(), uploads.end());
    for (Upload& upload : nearer) upload.to = &near(*upload.to);
    return device::upload_beside<Backend>(*inner_, nearer);
  }
  Status download_beside(std::span<const Download> downloads) noexcept override {
    std::vector<Download> nearer(downloads.begin(), downloads.end());
    for (Download& download : nearer) download.from = &near(*download.from);
    return device::download_beside<Backend>(*inner_, nearer);
  }
  Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) override {
    return inner_->pipeline(kernel, constants);
  }
  void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
              std::span<const Binding> bindings) noexcept override {
    std::vector<Binding> nearer(bindings.begin(), bindings.end());
    for (Binding& binding : nearer)
      if (binding.buffer != nullptr) binding.buffer = &near(*binding.buffer);
    counts_.threadgroups += int64_t{groups.x} * groups.y * groups.z;
    inner_->launch(pipeline, groups, threads, nearer);
  }
  Pending& submit() noexcept override { return inner_->submit(); }

 private:
  struct FarBuffer final : Buffer {
    explicit FarBuffer(std::unique_ptr<Buffer> inside) noexcept : inner(std::move(inside)) {}
    size_t size_bytes() const noexcept override { return inner->size_bytes(); }
    std::byte* host_pointer() noexcept override { return nullptr; }
    std::unique_ptr<Buffer> inner;
  };
  static Buffer& near(Buffer& far) noexcept { return *static_cast<FarBuffer&>(far).inner; }

  std::unique_ptr<software::SoftwareBackend> inner_;
  Counts& counts_;
};

}  // namespace pagoda::device::gpu
