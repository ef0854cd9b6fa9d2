// Loops for any machine: arithmetic in plain C++, and reads with the widest available loads.
#include "bench/loops.h"

#include <cstring>

namespace pagoda::bench {
namespace {

constexpr int kLanes = 64;

template <class T>
void multiply_add(int64_t rounds, const std::byte*) noexcept {
  T sums[kLanes] = {}, x = 1;
  for (int64_t round = 0; round < rounds; ++round) {
    for (T& sum : sums) sum = static_cast<T>(sum * x + x);
    asm volatile("" : "+r,m"(x) : : "memory");
  }
  asm volatile("" : : "r"(sums) : "memory");
}

// Reads 256 bytes of each stream, round-robin. `Vector` is a compiler vector type; always_inline gives this function
// the target attributes of its caller.
template <class Vector>
[[gnu::always_inline]] inline uint64_t read_streams(const std::byte* data, size_t size_bytes) noexcept {
  constexpr size_t kChunk = kReadUnit / kNumStreams;
  const size_t stream_bytes = size_bytes / kNumStreams;
  Vector sums[kNumStreams] = {};
  for (size_t at = 0; at < stream_bytes; at += kChunk) {
    for (size_t stream = 0; stream < kNumStreams; ++stream) {
      const std::byte* chunk = data + stream * stream_bytes + at;
      for (size_t i = 0; i < kChunk; i += sizeof(Vector)) {
        Vector loaded;
        std::memcpy(&loaded, chunk + i, sizeof loaded);
        sums[stream] ^= loaded;
      }
    }
  }
  const Vector all = (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]);
  uint64_t result = 0;
  for (size_t i = 0; i < sizeof(Vector) / sizeof(uint64_t); ++i) result ^= all[i];
  return result;
}

typedef uint64_t Vector128 __attribute__((vector_size(16)));
uint64_t read_128(const std::byte* data, size_t size_bytes) noexcept {
  return read_streams<Vector128>(data, size_bytes);
}

#if defined(__x86_64__)
typedef uint64_t Vector256 __attribute__((vector_size(32)));
typedef uint64_t Vector512 __attribute__((vector_size(64)));
__attribute__((target("avx2"))) uint64_t read_256(const std::byte* data, size_t size_bytes) noexcept {
  return read_streams<Vector256>(data, size_bytes);
}
__attribute__((target("avx512f"))) uint64_t read_512(const std::byte* data, size_t size_bytes) noexcept {
  return read_streams<Vector512>(data, size_bytes);
}
#endif

}  // namespace

std::vector<ArithmeticLoop> portable_loops() {
  return {{OpLimit::f32, "float", kLanes * 2.0, multiply_add<float>},
          {OpLimit::int8, "int8", kLanes * 2.0, multiply_add<int8_t>}};
}

ReadLoop read_loop() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return read_512;
  if (__builtin_cpu_supports("avx2")) return read_256;
#endif
  return read_128;
}

}  // namespace pagoda::bench
