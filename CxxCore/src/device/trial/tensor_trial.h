// The trial of a device's kernels for matrix units: whether their results are independent of the batch, correct, and
// faster.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "device/device.h"
#include "device/support.h"

namespace pagoda::device {

// Products that a model computes with weights of this shape, for every token.
struct ProductShape {
  int64_t rows = 0, cols = 0;  // of the weight
  WeightFormat format = WeightFormat::bf16;
  bool silu_mul = false;
  bool is_head = false;  // only the last token of a prompt is multiplied
  int64_t count = 1;     // number of such weights
  bool operator==(const ProductShape&) const = default;
};

struct TrialOptions {
  std::function<double()> seconds;  // a clock; empty: the system's
  int rounds = 3;                   // the best one counts; a warm-up round comes first
  int64_t timed_rows = 2048;        // of the weight with which scalar_trial.h times products
};

// The same options, with a clock in any case.
TrialOptions with_clock(const TrialOptions& options);

// The time that all products of a request take with the kernels for matrix units, relative to the time with the usual
// ones. A request has 1024 prompt tokens, 512 per step, and an answer of 256, one per step: that of a single user on
// one machine. Products that both kernels compute equally fast do not affect the choice, and a gain in one must
// outweigh a loss in the other.
//
// An error states what is wrong with them: for x of 1, 2, 8, 64 and 300 rows,
//   a row has different bits among other rows, or at another index among them;
//   a row differs from the usual kernels' by more than the order of float sums explains, or from `trusted`'s by more
//   than the rounding of activations explains;
//   or a kernel does not run, with the device's message.
// The device's own scratch is reserved for the trial: call reserve() again. Leaves the usual kernels in use.
Result<double> try_tensor_products(Device& tested, TensorProducts& products, Device& trusted,
                                   std::span<const ProductShape> shapes, const TrialOptions& options = {});

// Whether the kernels for matrix units run at all with weights of the formats of `shapes`: they compile. Leaves them in
// use.
Status run_tensor_products(Device& device, TensorProducts& products, std::span<const ProductShape> shapes);

}  // namespace pagoda::device
