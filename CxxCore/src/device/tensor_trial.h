// The trial of a device's kernels for matrix units: whether they give each row its own bits, the right numbers, and
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "device/device.h"
#include "device/support.h"

namespace pagoda::device {

// Products that a model makes with weights of this shape, for every token.
struct ProductShape {
  int64_t rows = 0, cols = 0;  // of the weight
  WeightFormat format = WeightFormat::bf16;
  bool silu_mul = false;
  bool is_head = false;  // of a prompt only its last token is multiplied
  int64_t count = 1;     // of such weights
  bool operator==(const ProductShape&) const = default;
};

struct TrialOptions {
  std::function<double()> seconds;  // a clock; empty: the system's
  int rounds = 3;                   // of which the best counts, after one that does not
};

// The time that all products of a request take with the kernels for matrix units, as a part of the time with the usual
// ones. A request has 1024 tokens of prompt, 512 in a step, and 256 of an answer, one in a step: that of one user on
// one machine. What both kernels do as fast does not move the choice, and a gain in one must pay for a loss in the
// other.
//
// An error says what is wrong with them: for x of 1, 2, 8, 64 and 300 rows,
//   a row has other bits among other rows, or at another place among them;
//   a row differs from the usual kernels' by more than the order of float sums explains, or from `trusted`'s by more
//   than roundings of activations do;
//   or a kernel does not run, in the device's words.
// The device's own scratch is reserved for the trial: reserve() it again. Leaves the usual kernels in use.
Result<double> try_tensor_products(Device& tested, TensorProducts& products, Device& trusted,
                                   std::span<const ProductShape> shapes, const TrialOptions& options = {});

// Whether the kernels for matrix units run at all with weights of the formats of `shapes`: they compile. Leaves them in
// use.
Status run_tensor_products(Device& device, TensorProducts& products, std::span<const ProductShape> shapes);

}  // namespace pagoda::device
