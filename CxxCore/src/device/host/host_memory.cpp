// Buffers from mmap (large) or the heap (small), and the memory limits of Linux and Apple systems.
#include "device/host/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__APPLE__)
#include <TargetConditionals.h>
#include <sys/sysctl.h>
#endif
// iOS terminates an app that exceeds its share of memory. PAGODA_IOS_TYPES: for type checks on other systems.
#if (defined(__APPLE__) && TARGET_OS_IPHONE) || defined(PAGODA_IOS_TYPES)
#define PAGODA_HAS_APP_LIMIT 1
#include <os/proc.h>
#endif

#include "base/concat.h"

namespace pagoda::device::host {
namespace {

class HostBuffer final : public Buffer {
 public:
  // `mapping_bytes` is 0 when `base` came from the heap.
  HostBuffer(void* base, std::byte* data, size_t size_bytes, size_t mapping_bytes) noexcept
      : base_(base), data_(data), size_bytes_(size_bytes), mapping_bytes_(mapping_bytes) {}
  HostBuffer(const HostBuffer&) = delete;
  ~HostBuffer() override {
    if (mapping_bytes_ > 0) munmap(base_, mapping_bytes_);
    else std::free(base_);
  }
  size_t size_bytes() const noexcept override { return size_bytes_; }
  std::byte* host_pointer() noexcept override { return data_; }

 private:
  void* base_;
  std::byte* data_;
  size_t size_bytes_, mapping_bytes_;
};

std::unique_ptr<Buffer> from_heap(size_t size_bytes) {
  const size_t rounded = (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* base = nullptr;
  if (posix_memalign(&base, kAlignment, rounded > 0 ? rounded : kAlignment) != 0) return nullptr;
  std::memset(base, 0, rounded);
  return std::make_unique<HostBuffer>(base, static_cast<std::byte*>(base), size_bytes, 0);
}

std::unique_ptr<Buffer> from_pages(size_t size_bytes) {
  const size_t mapping_bytes = size_bytes + kHugePage;
  void* base = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const uintptr_t aligned = (reinterpret_cast<uintptr_t>(base) + kHugePage - 1) / kHugePage * kHugePage;
#if defined(MADV_HUGEPAGE)
  madvise(reinterpret_cast<void*>(aligned), size_bytes, MADV_HUGEPAGE);  // a hint: failure only costs speed
#endif
  return std::make_unique<HostBuffer>(base, reinterpret_cast<std::byte*>(aligned), size_bytes, mapping_bytes);
}

int64_t physical_memory_bytes() noexcept {
#if defined(__APPLE__)
  int64_t bytes = 0;
  size_t size = sizeof bytes;
  return sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) == 0 ? bytes : 0;
#else
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
#endif
}

// Bytes that this process may still allocate; 0 on systems without such a limit.
int64_t app_limit_bytes() noexcept {
#if defined(PAGODA_HAS_APP_LIMIT)
  return static_cast<int64_t>(os_proc_available_memory());
#else
  return 0;
#endif
}

// A cgroup limit, or 0 if the file is missing or contains "max".
int64_t limit_in_file(const char* path) noexcept {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return 0;
  long long bytes = 0;
  if (std::fscanf(file, "%lld", &bytes) != 1) bytes = 0;
  std::fclose(file);
  return bytes > 0 ? bytes : 0;
}

}  // namespace

Status check_copy(const Tensor& t, size_t size_bytes, const char* what) noexcept {
  if (!t.is_present()) return make_error(StatusCode::internal, std::string(what) + ": the tensor is absent");
  int64_t stride = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    if (t.shape[i] > 1 && t.strides[i] != stride)
      return make_error(StatusCode::internal, std::string(what) + ": the tensor is not dense");
    stride *= t.shape[i];
  }
  const size_t tensor_bytes = static_cast<size_t>(t.num_elements()) * dtype_bytes(t.dtype);
  const size_t buffer_bytes = t.buffer->size_bytes();
  if (t.offset_bytes < 0 || static_cast<size_t>(t.offset_bytes) > buffer_bytes ||
      size_bytes > buffer_bytes - static_cast<size_t>(t.offset_bytes) || size_bytes > tensor_bytes)
    return make_error(StatusCode::internal,
                      concat(what, ": ", size_bytes, " bytes do not fit a tensor of ", tensor_bytes, " at byte ",
                             t.offset_bytes, " of a buffer of ", buffer_bytes));
  return ok_status();
}

Result<std::unique_ptr<Buffer>> make_buffer(size_t size_bytes, const std::string& label) {
  const int64_t limit = memory_limit_bytes();
  try {
    if (size_bytes <= static_cast<uint64_t>(limit)) {
      std::unique_ptr<Buffer> buffer = size_bytes >= kHugePage ? from_pages(size_bytes) : from_heap(size_bytes);
      if (buffer) return buffer;
    }
  } catch (const std::bad_alloc&) {
  }
  return make_error(
      StatusCode::out_of_memory,
      concat(label, " needs ", size_bytes, " bytes, which the system refused; this machine's limit is ", limit));
}

Status upload(const Tensor& t, const void* from, size_t size_bytes) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(t, size_bytes, "upload"));
  if (size_bytes > 0) std::memcpy(host_data<std::byte>(t), from, size_bytes);
  return ok_status();
}

Status download(const Tensor& t, void* to, size_t size_bytes) noexcept {
  PAGODA_RETURN_IF_ERROR(check_copy(t, size_bytes, "download"));
  if (size_bytes > 0) std::memcpy(to, host_data<std::byte>(t), size_bytes);
  return ok_status();
}

int64_t memory_limit_bytes() noexcept {
  static const int64_t limit = [] {
    int64_t bytes = physical_memory_bytes();
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
      if (const int64_t group = limit_in_file(path); group > 0 && group < bytes) bytes = group;
    if (const int64_t app = app_limit_bytes(); app > 0 && app < bytes) bytes = app;
    return bytes / 10 * 9;
  }();
  return limit;
}

}  // namespace pagoda::device::host
