// How the software device runs kernels: in which order, on how many threads, and with which checks.
#pragma once

#include <cstdint>

namespace pagoda::device::gpu::software {

enum class Order : uint8_t {
  forward,   // threads and threadgroups by ascending index
  reverse,   // by descending index
  shuffled,  // in a random order chosen once per threadgroup
  random,    // chosen anew at every switch
};

struct Options {
  Order order = Order::forward;
  uint64_t seed = 1;
  int num_threads = 0;             // 0: one per core
  bool check_uniform = false;      // checks that operands of simdgroup_load and simdgroup_store are equal in all lanes
  bool reverse_launches = false;   // runs launches between two barriers in reverse: results must not depend on it
  bool forget_barriers = false;    // a planted defect: no launch waits for another
  bool has_tensor_units = false;   // reports those of matmul_tensor, which it can run in any case
  bool has_wide_products = false;  // and has_tensor_units: those of matmul_wide instead
  uint32_t max_rounds = 1u << 31;  // of all loops of a threadgroup together; more is an endless loop
};

// The default options of every software device created from now on; tests use them to run all kernels in other orders.
inline Options& installed_options() noexcept {
  static Options options;
  return options;
}

}  // namespace pagoda::device::gpu::software
