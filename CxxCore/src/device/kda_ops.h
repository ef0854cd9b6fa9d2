// Arguments of kda: Kimi Delta Attention, the gated delta rule with a decay for each channel of a key.
#pragma once

#include "device/op_args.h"

namespace pagoda::device {

// Block-anchored as gdn, with a K-head for each V-head. q and k are the raw convolution outputs, normalised and scaled
// as in GdnArgs; beta = sigmoid(b); the decay of a token is the vector exp(-exp(A_log) softplus(a + dt_bias)).
//   S = diag(decay) S;  u = beta (v - S^T k);  S = S + k u^T;  o = S^T q
struct KdaArgs {
  static constexpr const char* kName = "kda";
  Tensor q, k;     // f32 [T, heads, Dk], rows strided
  Tensor v;        // f32 [T, heads, Dv], rows strided
  Tensor a;        // f32 [T, heads, Dk], rows strided
  Tensor b;        // f32 [T, heads]
  Tensor a_log;    // f32 [heads]
  Tensor dt_bias;  // f32 [heads, Dk]
  SequenceArgs sequences;
  Tensor state;   // f32 [slots, heads, Dk, Dv] in panels (gdn_state_index), as of the last block boundary
  Tensor k_rows;  // f32 [slots, heads, kGdnBlock, Dk]: normalised keys since the boundary
  Tensor u_rows;  // f32 [slots, heads, kGdnBlock, Dv]
  Tensor g_rows;  // f32 [slots, heads, kGdnBlock, Dk]: decay of each token
  Tensor out;     // f32 [T, heads, Dv]
};

}  // namespace pagoda::device
