// Declarations of the tensor operations of Metal 4 that matmul_tensor uses, for strict.h: taken from the public headers
// metal_tensor and MPPTensorOpsMatMul2d.h of macOS 26. Operands are non-const lvalues of one element type.
#pragma once

namespace metal {

struct tensor_inline {};
template <typename Index, unsigned long Rank>
struct dextents {
  dextents(Index, Index);
};
// T includes its address space: `threadgroup half`.
template <typename T, typename Extents, typename Kind>
struct tensor {
  tensor(T*, const Extents&);
};
template <int Count>
struct execution_simdgroups {};

template <typename T>
struct cooperative_tensor {
  ushort get_capacity() const;
  T& operator[](ushort);
  template <typename E, typename K>
  void store(tensor<MSL_THREADGROUP T, E, K>&) const;
  template <typename E, typename K>
  void store(tensor<MSL_DEVICE T, E, K>&) const;
};

}  // namespace metal

namespace mpp::tensor_ops {

struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;
  constexpr matmul2d_descriptor(int m, int n, int k, bool transpose_left = false, bool transpose_right = false,
                                bool relaxed_precision = false, mode matmul_mode = mode::multiply)
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
  static_assert(D.m % 16 == 0 || D.n % 16 == 0, "at least one of M and N must be a multiple of 16");
  template <typename Left, typename Right, typename T>
  metal::cooperative_tensor<T> get_destination_cooperative_tensor() const;
  template <typename T, typename E, typename K, typename Sum>
  void run(metal::tensor<T, E, K>&, metal::tensor<T, E, K>&, metal::cooperative_tensor<Sum>&) const;
};

}  // namespace mpp::tensor_ops
