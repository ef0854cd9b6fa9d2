// The table of names; layer numbers are carried over.
#include "io/gguf/names.h"

namespace pagoda::io {
namespace {

struct Name {
  std::string_view gguf, hugging_face;
};
constexpr Name kModelNames[] = {
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"output.weight", "lm_head.weight"},
    {"output_hc_norm.weight", "model.hyper_connection_mixer.hc_norm.weight"},  // Qwen4-Exp
    {"output_hc_down.weight", "model.hyper_connection_mixer.input_mix_weight_down.weight"},
    {"output_hc_up.weight", "model.hyper_connection_mixer.input_mix_weight_up.weight"},
};
constexpr Name kLayerNames[] = {
    {"attn_norm.weight", "input_layernorm.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_q.bias", "self_attn.q_proj.bias"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_k.bias", "self_attn.k_proj.bias"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_v.bias", "self_attn.v_proj.bias"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"attn_output.bias", "self_attn.o_proj.bias"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"},
    {"attn_q_a.weight", "self_attn.q_a_proj.weight"},  // latent attention
    {"attn_q_a_norm.weight", "self_attn.q_a_layernorm.weight"},
    {"attn_q_b.weight", "self_attn.q_b_proj.weight"},
    {"attn_kv_a_mqa.weight", "self_attn.kv_a_proj_with_mqa.weight"},
    {"attn_kv_a_norm.weight", "self_attn.kv_a_layernorm.weight"},
    {"attn_kv_b.weight", "self_attn.kv_b_proj.weight"},  // MiniCPM3, and DeepSeek of older converters
    {"attn_k_b.weight", "self_attn.k_b_proj.weight"},
    {"attn_v_b.weight", "self_attn.v_b_proj.weight"},
    {"exp_probs_b.bias", "mlp.gate.e_score_correction_bias"},
    {"attn_qkv.weight", "linear_attn.in_proj_qkv.weight"},
    {"attn_gate.weight", "linear_attn.in_proj_z.weight"},
    {"ssm_beta.weight", "linear_attn.in_proj_b.weight"},
    {"ssm_alpha.weight", "linear_attn.in_proj_a.weight"},
    {"ssm_conv1d.weight", "linear_attn.conv1d.weight"},
    {"ssm_dt.bias", "linear_attn.dt_bias"},
    {"ssm_a", "linear_attn.A_log"},
    {"ssm_norm.weight", "linear_attn.norm.weight"},
    {"ssm_out.weight", "linear_attn.out_proj.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_gate.bias", "mlp.gate_proj.bias"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_up.bias", "mlp.up_proj.bias"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
    {"ffn_down.bias", "mlp.down_proj.bias"},
    {"ffn_gate_inp.weight", "mlp.gate.weight"},
    {"ffn_gate_inp_shexp.weight", "mlp.shared_expert_gate.weight"},
    {"ffn_gate_shexp.weight", "mlp.shared_expert.gate_proj.weight"},
    {"ffn_up_shexp.weight", "mlp.shared_expert.up_proj.weight"},
    {"ffn_down_shexp.weight", "mlp.shared_expert.down_proj.weight"},
    {"ffn_gate_exps.weight", "mlp.switch_mlp.gate_proj.weight"},
    {"ffn_up_exps.weight", "mlp.switch_mlp.up_proj.weight"},
    {"ffn_gate_up_exps.weight", "mlp.experts.gate_up_proj"},
    {"ffn_down_exps.weight", "mlp.switch_mlp.down_proj.weight"},
    {"nextn.eh_proj.weight", "nextn.fc.weight"},  // an MTP head, in the layer after the last
    {"nextn.enorm.weight", "nextn.pre_fc_norm_embedding.weight"},
    {"nextn.hnorm.weight", "nextn.pre_fc_norm_hidden.weight"},
    {"nextn.shared_head_norm.weight", "nextn.norm.weight"},
    {"nextn.hc_head_norm.weight", "nextn.hyper_connection_mixer.hc_norm.weight"},
    {"nextn.hc_head_down.weight", "nextn.hyper_connection_mixer.input_mix_weight_down.weight"},
    {"nextn.hc_head_up.weight", "nextn.hyper_connection_mixer.input_mix_weight_up.weight"},
    {"ssm_ba.weight", "linear_attn.in_proj_b.weight"},  // Qwen3-Next; both by K-head
    {"ssm_ba.weight", "linear_attn.in_proj_a.weight"},
    {"ssm_in.weight", "linear_attn.in_proj_qkv.weight"},  // Qwen3-Next of older converters; all by K-head
    {"ssm_in.weight", "linear_attn.in_proj_z.weight"},
    {"indexer.q_proj.weight", "self_attn.indexer.q_proj.weight"},  // Qwen4-Exp
    {"indexer.k_proj.weight", "self_attn.indexer.k_proj.weight"},
    {"indexer.q_norm.weight", "self_attn.indexer.q_layernorm.weight"},
    {"indexer.k_norm.weight", "self_attn.indexer.k_layernorm.weight"},
    {"hc_attn_norm.weight", "attn_hyper_connection.hc_norm.weight"},
    {"hc_attn_down.weight", "attn_hyper_connection.input_mix_weight_down.weight"},
    {"hc_attn_up.weight", "attn_hyper_connection.input_mix_weight_up.weight"},
    {"hc_attn_inject.weight", "attn_hyper_connection.block_inject_weight.weight"},
    {"hc_ffn_norm.weight", "mlp_hyper_connection.hc_norm.weight"},
    {"hc_ffn_down.weight", "mlp_hyper_connection.input_mix_weight_down.weight"},
    {"hc_ffn_up.weight", "mlp_hyper_connection.input_mix_weight_up.weight"},
    {"hc_ffn_inject.weight", "mlp_hyper_connection.block_inject_weight.weight"},
    {"ple_key.weight", "ple.key_proj.weight"},
    {"ple_value.weight", "ple.value_proj.weight"},
    {"ple_norm_key.weight", "ple.norm_key.weight"},
    {"ple_norm_query.weight", "ple.norm_query.weight"},
    {"ple_norm_conv.weight", "ple.norm_conv.weight"},
    {"ple_conv1d.weight", "ple.conv1d.weight"},
};

// Names with a different meaning in one architecture.
struct OwnName {
  std::string_view architecture, gguf, hugging_face;
};
constexpr OwnName kOwnNames[] = {
    {"deepseek2", "ffn_gate_shexp.weight", "mlp.shared_experts.gate_proj.weight"},
    {"deepseek2", "ffn_up_shexp.weight", "mlp.shared_experts.up_proj.weight"},
    {"deepseek2", "ffn_down_shexp.weight", "mlp.shared_experts.down_proj.weight"},
    {"kimi-linear", "ffn_gate_shexp.weight", "mlp.shared_experts.gate_proj.weight"},
    {"kimi-linear", "ffn_up_shexp.weight", "mlp.shared_experts.up_proj.weight"},
    {"kimi-linear", "ffn_down_shexp.weight", "mlp.shared_experts.down_proj.weight"},
    {"kimi-linear", "ssm_conv1d_q.weight", "self_attn.q_conv1d.weight"},
    {"kimi-linear", "ssm_conv1d_k.weight", "self_attn.k_conv1d.weight"},
    {"kimi-linear", "ssm_conv1d_v.weight", "self_attn.v_conv1d.weight"},
    {"kimi-linear", "ssm_f_a.weight", "self_attn.f_a_proj.weight"},
    {"kimi-linear", "ssm_f_b.weight", "self_attn.f_b_proj.weight"},
    {"kimi-linear", "ssm_g_a.weight", "self_attn.g_a_proj.weight"},
    {"kimi-linear", "ssm_g_b.weight", "self_attn.g_b_proj.weight"},
    {"kimi-linear", "ssm_beta.weight", "self_attn.b_proj.weight"},
    {"kimi-linear", "ssm_a", "self_attn.A_log"},
    {"kimi-linear", "ssm_dt.bias", "self_attn.dt_bias"},
    {"kimi-linear", "ssm_norm.weight", "self_attn.o_norm.weight"},
    {"phi3", "attn_qkv.weight", "self_attn.qkv_proj.weight"},
    {"phi3", "ffn_up.weight", "mlp.gate_up_proj.weight"},
    {"gemma3", "ffn_norm.weight", "pre_feedforward_layernorm.weight"},
    {"gemma3", "post_ffw_norm.weight", "post_feedforward_layernorm.weight"},
    {"qwen4exp", "nextn.eh_proj.weight",
     "nextn.fc_embedding.weight"},  // columns of the embedding | of the hidden state
    {"qwen4exp", "nextn.eh_proj.weight", "nextn.fc_hidden.weight"},
};

}  // namespace

std::vector<std::string> hugging_face_names(std::string_view architecture, std::string_view name, bool fuses_gate_up) {
  std::vector<std::string> names;
  constexpr std::string_view kLayer = "blk.";
  if (!name.starts_with(kLayer)) {
    for (const Name& known : kModelNames)
      if (known.gguf == name) names.emplace_back(known.hugging_face);
    return names;
  }
  name.remove_prefix(kLayer.size());
  const size_t dot = name.find('.');
  if (dot == 0 || dot == name.npos || dot > 6 || name.substr(0, dot).find_first_not_of("0123456789") != name.npos)
    return names;
  const std::string layer = "model.layers." + std::string(name.substr(0, dot + 1));
  name.remove_prefix(dot + 1);
  if (fuses_gate_up && name == "ffn_down_exps.weight") return {layer + "mlp.experts.down_proj"};
  for (const OwnName& own : kOwnNames)
    if (own.architecture == architecture && own.gguf == name) names.push_back(layer + std::string(own.hugging_face));
  if (!names.empty()) return names;
  for (const Name& known : kLayerNames)
    if (known.gguf == name) names.push_back(layer + std::string(known.hugging_face));
  return names;
}

}  // namespace pagoda::io
