// Reads the keys that determine the product, and refuses those whose meaning is not supported.
#include "io/lora/lora_config.h"

#include <algorithm>
#include <cmath>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json.h"

namespace pagoda::io {
namespace {

bool is_set(const Json& config, std::string_view key) {
  const Json* value = config.find(key);
  if (!value || value->is_null() || (value->is_bool() && !value->as_bool())) return false;
  if (value->is_string()) return !value->as_string().empty() && value->as_string() != "none";
  if (value->is_array()) return !value->items().empty();
  return !value->is_object() || !value->members().empty();
}

template <class Value>
const Value* find_end(const std::map<std::string, Value>& by_end, std::string_view module) {
  for (const auto& [end, value] : by_end)
    if (module == end || (module.ends_with(end) && module[module.size() - end.size() - 1] == '.')) return &value;
  return nullptr;
}

class Reader {
 public:
  Reader(const Json& config, const std::string& file) : config_(config), file_(file) {}

  Result<LoraConfig> peft() {
    const Json* type = config_.find("peft_type");
    if (!type->is_string() || type->as_string() != "LORA")
      return unsupported("peft_type " + (type->is_string() ? type->as_string() : std::string("?")));
    if (is_set(config_, "use_dora")) return unsupported("DoRA (use_dora)");
    for (const char* key : {"fan_in_fan_out", "bias", "lora_bias", "modules_to_save", "layer_replication",
                            "alora_invocation_tokens", "use_qalora", "trainable_token_indices", "kasa_config",
                            "arrow_config", "use_bdlora", "velora_config", "monteclora_config"})
      if (is_set(config_, key)) return unsupported(key);
    LoraConfig lora;
    PAGODA_ASSIGN_OR_RETURN(lora.rank, rank(config_.find("r")));
    PAGODA_ASSIGN_OR_RETURN(lora.alpha, number("lora_alpha", config_.find("lora_alpha")));
    lora.is_rslora = is_set(config_, "use_rslora");
    if (is_set(config_, "rank_pattern"))
      for (const auto& [end, value] : config_.find("rank_pattern")->members()) {
        PAGODA_RETURN_IF_ERROR(check_end(end));
        PAGODA_ASSIGN_OR_RETURN(lora.ranks[end], rank(&value));
      }
    if (is_set(config_, "alpha_pattern"))
      for (const auto& [end, value] : config_.find("alpha_pattern")->members()) {
        PAGODA_RETURN_IF_ERROR(check_end(end));
        PAGODA_ASSIGN_OR_RETURN(lora.alphas[end], number("alpha_pattern", &value));
      }
    return lora;
  }

  Result<LoraConfig> mlx() {
    const Json* type = config_.find("fine_tune_type");
    if (type && (!type->is_string() || type->as_string() != "lora"))
      return unsupported(type->is_string() && type->as_string() == "dora" ? "DoRA (fine_tune_type dora)"
                                                                          : "a fine_tune_type other than lora");
    const Json* parameters = config_.find("lora_parameters");
    if (!parameters || !parameters->is_object()) return bad("lora_parameters is missing");
    LoraConfig lora;
    lora.is_mlx = true;
    PAGODA_ASSIGN_OR_RETURN(lora.rank, rank(parameters->find("rank")));
    const Json* scale = parameters->find("scale");
    const Json* alpha = parameters->find("alpha");  // older versions
    PAGODA_ASSIGN_OR_RETURN(lora.mlx_scale, number("scale", scale ? scale : alpha));
    if (!scale) lora.mlx_scale /= static_cast<double>(lora.rank);
    return lora;
  }

  Status unsupported(const std::string& what) const {
    return make_error(StatusCode::unsupported, file_ + ": " + what + " is not supported");
  }
  Status bad(const std::string& what) const { return make_error(StatusCode::bad_file, file_ + ": " + what); }

 private:
  Result<int64_t> rank(const Json* value) const {
    if (!value || !value->is_integer() || value->as_integer() < 1 || value->as_integer() > kMaxLoraRank)
      return bad(concat("the rank must be 1 to ", kMaxLoraRank));
    return value->as_integer();
  }
  Result<double> number(const char* key, const Json* value) const {
    if (!value || !value->is_number() || !std::isfinite(value->as_double())) return bad(concat(key, " is no number"));
    return value->as_double();
  }
  // peft matches these keys as regular expressions at the end of a module's name; a plain name is the usual case.
  Status check_end(const std::string& end) const {
    if (end.find_first_of("^$*+?()[]{}|\\") == std::string::npos) return ok_status();
    return unsupported("the pattern " + end + " in rank_pattern or alpha_pattern");
  }

  const Json& config_;
  const std::string& file_;
};

}  // namespace

int64_t LoraConfig::rank_of(std::string_view module) const {
  const int64_t* own = find_end(ranks, module);
  return own ? *own : rank;
}

double LoraConfig::scale_of(std::string_view module) const {
  if (is_mlx) return mlx_scale;
  const double* own = find_end(alphas, module);
  const auto own_rank = static_cast<double>(rank_of(module));
  return (own ? *own : alpha) / (is_rslora ? std::sqrt(own_rank) : own_rank);
}

bool LoraConfig::has_pattern_of_experts() const {
  const auto is_of_experts = [](const auto& entry) {
    return entry.first.find("experts") != entry.first.npos || entry.first == "gate_up_proj" ||
           entry.first == "down_proj";
  };
  return std::ranges::any_of(ranks, is_of_experts) || std::ranges::any_of(alphas, is_of_experts);
}

Result<LoraConfig> parse_lora_config(std::string_view text, const std::string& file) {
  const Result<Json> json = parse_json(text);
  if (!json.is_ok()) return make_error(json.status.code, file + ": " + json.status.message);
  Reader reader(*json, file);
  if (!json->is_object()) return reader.bad("is no object");
  if (json->find("peft_type")) return reader.peft();
  if (json->find("lora_parameters") || json->find("fine_tune_type")) return reader.mlx();
  return reader.bad("is neither peft's nor mlx-lm's: it has no peft_type and no lora_parameters");
}

}  // namespace pagoda::io
