// Argument checks of the ops of hyper-connections.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {
namespace {

// `all` has whole streams as wide as `one`.
Check& streams(Check& check, const char* argument, const device::Tensor& all, const device::Tensor& one) noexcept {
  const int64_t width = one.shape[1];
  return check.tensor(argument, all, DType::f32, {one.shape[0], kAny})
      .that(width > 0 && all.shape[1] >= width && all.shape[1] % width == 0, argument, "does not have whole streams");
}

}  // namespace

Status silu_rows(device::Encoder& encoder, const device::SiluRowsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  return encode(check, encoder, args);
}

Status mix_streams(device::Encoder& encoder, const device::MixStreamsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("out", args.out, DType::f32, {kAny, kAny});
  if (!check.is_ok()) return check.status();
  streams(check, "x", args.x, args.out).tensor("gates", args.gates, DType::f32, {args.x.shape[0], args.x.shape[1]});
  return encode(check, encoder, args);
}

Status inject_streams(device::Encoder& encoder, const device::InjectStreamsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("x", args.x, DType::f32, {kAny, kAny})
      .tensor("weights", args.weights, DType::f32, {args.x.shape[0], kAny});
  if (!check.is_ok()) return check.status();
  check.tensor("streams", args.streams, DType::f32, {args.x.shape[0], args.weights.shape[1] * args.x.shape[1]});
  return encode(check, encoder, args);
}

Status gate_streams(device::Encoder& encoder, const device::GateStreamsArgs& args) noexcept {
  Check check(args.kName);
  check.tensor("values", args.values, DType::f32, {kAny, kAny});
  if (!check.is_ok()) return check.status();
  streams(check, "keys", args.keys, args.values);
  const int64_t rows = args.keys.shape[0], width = args.keys.shape[1];
  check.tensor("queries", args.queries, DType::f32, {rows, width}).tensor("out", args.out, DType::f32, {rows, width});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
