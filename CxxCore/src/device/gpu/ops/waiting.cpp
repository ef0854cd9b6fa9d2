// Ops that wait for the next one, which may fuse them: norms and gates for the matmul that reads their rows, matmuls
// for the norm that adds their product to its input, convolutions for their gdn.
#include <utility>

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

// The next op may read their results or has to follow them. All are cleared before the first is launched.
void GpuEncoder::launch_waiting() noexcept {
  const int num_ropes = std::exchange(num_waiting_, 0);
  const std::optional<ReshapeAndCacheArgs> caching = std::exchange(caching_, std::nullopt);
  const std::optional<Product> product = std::exchange(product_, std::nullopt);
  const std::optional<CausalConv1dArgs> conv = std::exchange(conv_, std::nullopt);
  const RowMaker maker = std::exchange(maker_, RowMaker{});
  if (caching) launch_rope_and_cache(*caching);
  else
    for (int i = 0; i < num_ropes; ++i) launch_rope(waiting_[i]);
  if (product) launch_product(*product);
  if (conv) launch_conv(*conv);
  launch_maker(maker);
}

void GpuEncoder::launch_maker(const RowMaker& maker) noexcept {
  if (const auto* norm = std::get_if<RmsNormArgs>(&maker)) launch_norm(*norm);
  if (const auto* norm = std::get_if<GatedRmsNormArgs>(&maker)) launch_gated_norm(*norm);
  if (const auto* gate = std::get_if<SigmoidGateArgs>(&maker)) launch_gate(*gate);
}

// Whether the waiting product is the residual of a norm and could be added to its x.
bool GpuEncoder::add_to(const Tensor& x, const Tensor& residual) noexcept {
  if (!product_ || !residual.is_present() || !is_same_view(product_->args.out, residual)) return false;
  Product product = *product_;
  const std::optional<MadeRows> made = made_rows(product.maker);
  const bool reads_x =
      may_overlap(product.args.x, x) || (made && (may_overlap(made->x, x) || may_overlap(made->gate, x)));
  if (reads_x) return false;
  product_.reset();
  product.args.out = x;
  product.adds = true;
  launch_product(product);
  return true;
}

void GpuEncoder::record(const RmsNormArgs& a) noexcept {
  RmsNormArgs norm = a;
  if (add_to(a.x, a.residual)) norm.residual = {};
  if (is_waiting()) launch_waiting();
  if (a.only_next && !norm.residual.is_present()) maker_ = norm;
  else launch_norm(norm);
}

void GpuEncoder::record(const GatedRmsNormArgs& a) noexcept {
  if (is_waiting()) launch_waiting();
  if (a.only_next) maker_ = a;
  else launch_gated_norm(a);
}

void GpuEncoder::record(const SigmoidGateArgs& a) noexcept {
  if (is_waiting()) launch_waiting();
  if (a.only_next) maker_ = a;
  else launch_gate(a);
}

void GpuEncoder::record(const MatmulArgs& a) noexcept {
  RowMaker maker;
  if (makes(maker_, a.x)) maker = std::exchange(maker_, RowMaker{});
  if (is_waiting()) launch_waiting();
  product_ = Product{a, maker};
}

}  // namespace pagoda::device::gpu
