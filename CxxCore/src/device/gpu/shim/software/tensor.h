// The tensor operations of Metal 4 that matmul_tensor uses, for the software device: plain loops over the whole tile.
// It chooses what Metal leaves unspecified: which thread holds which sum, and the summation order.
#pragma once

#include "device/gpu/shim/software/msl.h"
#include "device/gpu/software/cooperation.h"

namespace metal {

struct tensor_inline {};
template <typename Index, size_t Rank>
struct dextents {
  static_assert(Rank == 2, "the subset has matrices only");
  Index msl_size[2];  // the dimension with adjacent elements first
  dextents(Index first, Index second) : msl_size{first, second} {}
};
template <typename T, typename Extents, typename Kind>
struct tensor {
  T* msl_data;
  Extents msl_extents;
  tensor(T* data, const Extents& extents) : msl_data(data), msl_extents(extents) {}
};
template <int Count>
struct execution_simdgroups {
  static constexpr int msl_threads = 32 * Count;
};

// A tile [M, N] shared by the threads: thread t holds its elements t, t + Threads, ...
template <typename T, int M, int N, int Threads>
struct msl_shared_tile {
  static_assert(M * N % Threads == 0, "each thread has as many elements");
  T msl_e[M * N / Threads];
  static constexpr ushort get_capacity() { return M * N / Threads; }
  T& operator[](ushort i) { return msl_e[i]; }
  template <typename E, typename K>
  void store(tensor<T, E, K>& to, int line = __builtin_LINE()) {
    if (to.msl_extents.msl_size[0] != N || to.msl_extents.msl_size[1] != M)
      ::pagoda::device::gpu::software::fail(line, "store: the tensor has other extents than the tile");
    ::pagoda::device::gpu::software::require_uniform(to.msl_data, N, "store", line);
    const int first = ::pagoda::device::gpu::software::cooperating_thread(Threads, "store", line);
    for (int i = 0; i < get_capacity(); ++i) to.msl_data[first + Threads * i] = msl_e[i];
  }
};

}  // namespace metal

namespace mpp::tensor_ops {

struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;
  constexpr matmul2d_descriptor(int m, int n, int k, bool transpose_left, bool transpose_right, bool relaxed_precision,
                                mode matmul_mode)
      : m(m),
        n(n),
        k(k),
        transpose_left(transpose_left),
        transpose_right(transpose_right),
        relaxed_precision(relaxed_precision),
        matmul_mode(matmul_mode) {}
};

template <matmul2d_descriptor D, typename Scope>
struct matmul2d {
  static_assert(D.m % 16 == 0 || D.n % 16 == 0, "Metal wants a side that is a multiple of 16");
  static_assert(!D.transpose_left && D.transpose_right &&
                    D.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate,
                "the subset has x times w transposed, added to what is there");
  template <typename Left, typename Right, typename T>
  metal::msl_shared_tile<T, D.m, D.n, Scope::msl_threads> get_destination_cooperative_tensor() const {
    metal::msl_shared_tile<T, D.m, D.n, Scope::msl_threads> tile;
    for (T& e : tile.msl_e) e = T(__builtin_nanf(""));  // Metal leaves them uninitialised
    return tile;
  }
  template <typename T, typename E, typename K, typename Sum>
  void run(metal::tensor<T, E, K>& left, metal::tensor<T, E, K>& right,
           metal::msl_shared_tile<Sum, D.m, D.n, Scope::msl_threads>& sums, int line = __builtin_LINE()) const {
    namespace software = ::pagoda::device::gpu::software;
    const auto &l = left.msl_extents.msl_size, &r = right.msl_extents.msl_size;
    if (l[0] != D.k || r[0] != D.k || l[1] != D.m || r[1] != D.n)
      software::fail(line, "matmul2d: operands have other extents than the descriptor");
    software::require_uniform(left.msl_data, D.k, "matmul2d", line);
    software::require_uniform(right.msl_data, D.k, "matmul2d", line);
    const int first = software::cooperating_thread(Scope::msl_threads, "matmul2d", line);
    for (int i = 0; i < sums.get_capacity(); ++i) {
      const int element = first + Scope::msl_threads * i;
      const T *a = left.msl_data + element / D.n * D.k, *b = right.msl_data + element % D.n * D.k;
      Sum sum = sums.msl_e[i];
      for (int k = 0; k < D.k; ++k) sum += Sum(float(a[k])) * Sum(float(b[k]));
      sums.msl_e[i] = sum;
    }
  }
};

}  // namespace mpp::tensor_ops
