// MtpHead: one more layer that drafts the token after next from the next token and the model's last hidden state.
//   z = fc [norm(embedding of x_p) | norm(h_(p-1))];  z += attention(norm(z));  z += MLP(norm(z));  m = norm(z)
// lm_head m are the logits of the token after x_p, and m stands for h_p in the next draft. Its keys and values lie in a
// KV pool of their own, indexed by the position of x_p; position 0, which has no hidden state before it, is never seen.
#pragma once

#include "model/layers/layers.h"

namespace pagoda::model {

class MtpHead {
 public:
  // The layer after the last of the model.
  MtpHead(const io::ModelConfig& config, const Weights& weights);
  void set_pools(const KvPool* kv, const HiddenPool* hidden) noexcept;

  // Keys and values of all rows of a step, from the hidden states that step.head.hidden has from row B on.
  Status feed(device::Encoder& encoder, const Step& step, const device::Weight* embedding) const;
  // The last of these states to the pool, by position.
  Status keep_states(device::Encoder& encoder, const Step& step) const;

  // Rows are one token of each sequence. With is_first, hidden states come from the pool, else from the rows of the
  // call before that step.head.before names. Leaves m in step.head.output.
  Status draft(device::Encoder& encoder, const Step& step, const device::Weight* embedding, bool is_first) const;

 private:
  Status join(device::Encoder& encoder, const Step& step, const device::Weight* embedding) const;
  Status norm(device::Encoder& encoder, const device::Tensor& x, const device::Tensor& addition,
              const device::Tensor& weight, const device::Tensor& out) const;

  const device::Weight* fc_;  // [H, embedding | hidden]
  device::Tensor embedding_norm_, hidden_norm_, final_norm_;
  Layer layer_;
  float norm_eps_, norm_offset_;
  const HiddenPool* hidden_ = nullptr;
};

}  // namespace pagoda::model
