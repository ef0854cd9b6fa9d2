// MtpHead: one more layer that drafts the token after next from the next token and the model's last hidden state.
//   z = fc [norm(embedding of x_p) | norm(h_(p-1))];  z += attention(norm(z));  z += MLP(norm(z));  m = norm(z)
// lm_head m gives the logits of the token after x_p, and m replaces h_p in the next draft. Its keys and values are in a
// separate KV pool, indexed by the position of x_p; position 0, which has no preceding hidden state, is never read.
// Of several residual streams h has all, as they are before the model's last connections, and there is no norm but that
// of all of them together:
//   z_s = fc norm(h)_s + embedding_fc norm(embedding of x_p);  attention and MLP with connections;  m = mix(z)
// lm_head m gives the logits, and z replaces h_p.
#pragma once

#include "model/layers/layers.h"

namespace pagoda::model {

class MtpHead {
 public:
  // The head is the layer after the model's last.
  MtpHead(const io::ModelConfig& config, const Weights& weights);
  void set_pools(const KvPool* kv, const HiddenPool* hidden) noexcept;

  // Computes keys and values of all rows of a step, from the hidden states in step.head.hidden from row B on.
  Status feed(device::Encoder& encoder, const Step& step, const device::Weight* embedding) const;
  // Writes the last of these states to the pool, by position.
  Status keep_states(device::Encoder& encoder, const Step& step) const;

  // Rows are one token per sequence. With is_first, hidden states are read from the pool, otherwise from the rows of
  // the previous call that step.head.before names. Leaves m in result(), and what replaces h_p in step.head.output.
  Status draft(device::Encoder& encoder, const Step& step, const device::Weight* embedding, bool is_first) const;

  const device::Tensor& result(const Step& step) const noexcept {
    return final_mixer_ ? step.normed : step.head.output;
  }

 private:
  Step own_step(const Step& step, bool is_draft) const;
  const device::Tensor& states_before(const Step& step) const noexcept;
  Status join(device::Encoder& encoder, const Step& step, const Step& own, const device::Weight* embedding) const;
  Status join_streams(device::Encoder& encoder, const Step& step, const Step& own,
                      const device::Weight* embedding) const;
  Status finish_streams(device::Encoder& encoder, const Step& own) const;
  Status norm(device::Encoder& encoder, const device::Tensor& x, const device::Tensor& addition,
              const device::Tensor& weight, const device::Tensor& out) const;

  const device::Weight* fc_;            // [H, embedding | hidden]; of streams [H, hidden]
  const device::Weight* embedding_fc_;  // [H, H], of streams
  device::Tensor embedding_norm_, hidden_norm_, final_norm_;
  Layer layer_;
  std::optional<StreamMixer> final_mixer_;  // instead of the last norm, if there are several residual streams
  float norm_eps_, norm_offset_;
  const HiddenPool* hidden_ = nullptr;
};

}  // namespace pagoda::model
