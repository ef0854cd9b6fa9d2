// How the software device runs kernels: in which order, on how many threads, and what it looks out for.
#pragma once

#include <cstdint>

namespace pagoda::device::gpu::software {

enum class Order : uint8_t {
  forward,   // threads and threadgroups by rising index
  reverse,   // by falling index
  shuffled,  // in an order drawn once for each threadgroup
  random,    // drawn anew at every switch
};

struct Options {
  Order order = Order::forward;
  uint64_t seed = 1;
  int num_threads = 0;             // 0: one for each core
  bool check_uniform = false;      // operands of simdgroup_load and simdgroup_store are equal in all lanes
  bool reverse_launches = false;   // launches between two barriers run last first: nothing may depend on it
  bool forget_barriers = false;    // a planted defect: no launch waits for another
  bool has_tensor_units = false;   // claims those of matmul_tensor, which it runs in any case
  uint32_t max_rounds = 1u << 31;  // of all loops of a threadgroup together; more is an endless loop
};

// The options of every software device made from now on without others; tests run all kernels in other orders by it.
inline Options& installed_options() noexcept {
  static Options options;
  return options;
}

}  // namespace pagoda::device::gpu::software
