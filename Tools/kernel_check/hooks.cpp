// Sanitizer hooks of instrumented kernels: they are compiled with -fsanitize=thread,alignment,bounds, and these
// functions replace the sanitizers' run-time libraries.
#include <cstdint>
#include <cstring>

#include "access_checker.h"
#include "device/gpu/software/worker.h"

namespace {

using namespace pagoda::device::gpu::software;

AccessChecker& checker() {
  static AccessChecker made;
  return made;
}
[[maybe_unused]] const bool installed = (installed_checker() = &checker()) != nullptr;

void see(const void* at, size_t size, bool is_write, const void* pc) {
  checker().access(const_cast<void*>(at), size, is_write, pc, false);
}

struct Location {
  const char* file;
  uint32_t line, column;
};
struct Type {
  uint16_t kind, info;
  char name[1];
};

void undefined(const Location& location, const std::string& what) {
  if (current_worker && current_worker->current()) fail_at("undefined", static_cast<int>(location.line), what);
}

}  // namespace

extern "C" {

#define HOOKS(N)                                                                            \
  void __tsan_read##N(void* p) { see(p, N, false, __builtin_return_address(0)); }           \
  void __tsan_write##N(void* p) { see(p, N, true, __builtin_return_address(0)); }           \
  void __tsan_unaligned_read##N(void* p) { see(p, N, false, __builtin_return_address(0)); } \
  void __tsan_unaligned_write##N(void* p) { see(p, N, true, __builtin_return_address(0)); } \
  void __tsan_read_write##N(void* p) {                                                      \
    see(p, N, false, __builtin_return_address(0));                                          \
    see(p, N, true, __builtin_return_address(0));                                           \
  }                                                                                         \
  void __tsan_unaligned_read_write##N(void* p) { __tsan_read_write##N(p); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* p, size_t n) { see(p, n, false, __builtin_return_address(0)); }
void __tsan_write_range(void* p, size_t n) { see(p, n, true, __builtin_return_address(0)); }
void* __tsan_memcpy(void* to, const void* from, size_t n) {
  see(from, n, false, __builtin_return_address(0));
  see(to, n, true, __builtin_return_address(0));
  return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
  see(from, n, false, __builtin_return_address(0));
  see(to, n, true, __builtin_return_address(0));
  return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, size_t n) {
  see(to, n, true, __builtin_return_address(0));
  return std::memset(to, value, n);
}

void __ubsan_handle_type_mismatch_v1(void* data, void* at) {
  struct Data {
    Location location;
    const Type* type;
    uint8_t log_alignment, kind;
  }* d = static_cast<Data*>(data);
  undefined(d->location, "misaligned: address " + std::to_string(reinterpret_cast<uintptr_t>(at) % 4096) +
                             " of a page for " + d->type->name + ", which needs a multiple of " +
                             std::to_string(1u << d->log_alignment));
}
void __ubsan_handle_out_of_bounds(void* data, void* index) {
  struct Data {
    Location location;
    const Type* array;
  }* d = static_cast<Data*>(data);
  undefined(d->location,
            "out of bounds: index " + std::to_string(reinterpret_cast<intptr_t>(index)) + " of " + d->array->name);
}
}
