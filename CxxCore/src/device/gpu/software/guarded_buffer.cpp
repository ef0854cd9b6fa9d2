// Maps buffers between guard pages.
#include "device/gpu/software/guarded_buffer.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "base/concat.h"
#include "device/gpu/software/sanitizer.h"
#include "device/host/host_memory.h"

namespace pagoda::device::gpu::software {

namespace {
constexpr size_t kAlignment = 256, kPageBytes = 16384;  // a multiple of any system's page
constexpr char kPattern = '\xa5';
}  // namespace

Result<std::unique_ptr<GuardedBuffer>> GuardedBuffer::create(size_t size, const std::string& label) {
  const size_t limit = static_cast<size_t>(host::memory_limit_bytes());
  if (size > limit)
    return make_error(StatusCode::out_of_memory, concat(label, ": ", size, " bytes of ", limit, " on this machine"));
  const size_t body = (size + kAlignment - 1) / kAlignment * kAlignment;
  const size_t pages = (body + kPageBytes - 1) / kPageBytes * kPageBytes, map_bytes = pages + 2 * kPageBytes;
  void* mapped = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return make_error(StatusCode::out_of_memory, concat(label, ": the system refused ", size, " bytes"));
  char* map = static_cast<char*>(mapped);
  char* data = map + kPageBytes + pages - body;  // ends as close to the guard page as its alignment allows
  mprotect(map, kPageBytes, PROT_NONE);
  mprotect(map + kPageBytes + pages, kPageBytes, PROT_NONE);
  std::memset(data + size, kPattern, body - size);
  poison(data + size, body - size);
  return std::unique_ptr<GuardedBuffer>(new GuardedBuffer(map, map_bytes, data, size, label));
}

GuardedBuffer::~GuardedBuffer() {
  if (map_ == nullptr) return;
  unpoison(map_, map_bytes_);
  munmap(map_, map_bytes_);
}

bool GuardedBuffer::is_intact() const noexcept {
#ifdef PAGODA_ASAN
  return true;  // the sanitizer would have caught it
#else
  const char* end = map_ == nullptr ? data_ : map_ + map_bytes_ - kPageBytes;
  for (const char* p = data_ + size_; p < end; ++p)
    if (*p != kPattern) return false;
  return true;
#endif
}

}  // namespace pagoda::device::gpu::software
