// The list of all operations, and a reference to the arguments of any of them. What every operation needs (index
// checks, costs, counting, dispatch to a device's code) is one function over this list.
#pragma once

#include <concepts>
#include <variant>

#include "device/adapter_ops.h"
#include "device/expert_ops.h"
#include "device/gelu_ops.h"
#include "device/index_ops.h"
#include "device/kda_ops.h"
#include "device/latent_ops.h"
#include "device/ngram_ops.h"
#include "device/op_args.h"
#include "device/pick_ops.h"
#include "device/stream_ops.h"
#include "device/vision_ops.h"

namespace pagoda::device {

template <class... Args>
struct OpList {
  using Value = std::variant<Args...>;
  using Pointer = std::variant<const Args*...>;
  template <class T>
  static constexpr bool contains = (std::same_as<T, Args> || ...);
};

using Ops = OpList<EmbeddingArgs, RmsNormArgs, MatmulArgs, QkNormRopeArgs, ReshapeAndCacheArgs, PagedAttentionArgs,
                   SigmoidGateArgs, CausalConv1dArgs, GdnArgs, GatedRmsNormArgs, GatherRowsArgs, ZeroSlotsArgs,
                   CopySlotArgs, ArgmaxArgs, SampleArgs, RouteExpertsArgs, ExpertMatmulArgs, CombineExpertsArgs,
                   GeluMulArgs, ScaleRowsArgs, CacheLatentsArgs, LatentAttentionArgs, KdaArgs, LayerNormArgs, GeluArgs,
                   AdapterArgs, SiluMulArgs, SiluRowsArgs, MixStreamsArgs, InjectStreamsArgs, GateStreamsArgs,
                   NgramEmbeddingArgs, DilatedConvArgs, CacheIndexKeysArgs, SelectBlocksArgs, BlockAttentionArgs>;

// The arguments of one op, which the caller owns.
class OpRef {
 public:
  template <class Args>
    requires(Ops::contains<Args>)
  OpRef(const Args& args) noexcept : args_(&args) {}  // NOLINT: so that ops are passed as they are

  // Calls `visitor` with the arguments in their own type.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const noexcept {
    return std::visit([&](const auto* args) -> decltype(auto) { return visitor(*args); }, args_);
  }
  const char* name() const noexcept {
    return visit([](const auto& args) { return args.kName; });
  }

 private:
  Ops::Pointer args_;
};

}  // namespace pagoda::device
