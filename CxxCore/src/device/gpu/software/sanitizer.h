// Informs the address sanitizer about stacks and unused memory; does nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PAGODA_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#endif

namespace pagoda::device::gpu::software {

#ifdef PAGODA_ASAN
inline void poison(const void* at, size_t size) noexcept { __asan_poison_memory_region(at, size); }
inline void unpoison(const void* at, size_t size) noexcept { __asan_unpoison_memory_region(at, size); }
// Call before a switch to the stack [low, low + size); a null `save` ends the current stack.
inline void sanitizer_leave(void** save, const void* low, size_t size) noexcept {
  __sanitizer_start_switch_fiber(save, low, size);
}
// Call after a switch; on the first switch away from the host's stack, records that stack.
inline void sanitizer_arrive(void* saved, const void*& host_low, size_t& host_size) noexcept {
  const void* low = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(saved, &low, &size);
  if (!host_low) {
    host_low = low;
    host_size = size;
  }
}
#else
inline void poison(const void*, size_t) noexcept {}
inline void unpoison(const void*, size_t) noexcept {}
inline void sanitizer_leave(void**, const void*, size_t) noexcept {}
inline void sanitizer_arrive(void*, const void*&, size_t&) noexcept {}
#endif

}  // namespace pagoda::device::gpu::software
