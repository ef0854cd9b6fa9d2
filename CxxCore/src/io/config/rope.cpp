// Old style: rope_theta and rope_scaling next to the sizes. New style: all in rope_parameters, possibly by layer type.
#include "io/config/rope.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/quoted.h"

namespace pagoda::io {
namespace {

constexpr double kDefaultTheta = 10000.0;
constexpr double kMinTheta = 1.0, kMaxTheta = 1e15;
constexpr double kMaxFactor = 1e6;
constexpr std::string_view kLayerKinds[] = {"full_attention", "sliding_attention", "linear_attention"};

// Values in the dictionary override values next to it.
double number_of(ConfigFields& dictionary, ConfigFields& section, std::string_view key, double min, double max,
                 double fallback) {
  if (dictionary.find(key) == nullptr) return section.number(key, min, max, fallback);
  return dictionary.number(key, min, max);
}

int32_t read_rotary_dim(ConfigFields& dictionary, ConfigFields& section, const ModelConfig& config) {
  if (config.family == Family::gemma3) return config.head_dim;
  const double share = config.traits().rotary_share;
  const double factor = number_of(dictionary, section, "partial_rotary_factor", 1e-3, 1.0, share > 0.0 ? share : 1.0);
  if (share == 0.0 && factor != 1.0) {
    dictionary.fail("partial_rotary_factor", "is not supported for " + config.architecture, StatusCode::unsupported);
  }
  const auto dim = static_cast<int32_t>(config.head_dim * factor);
  dictionary.check(
      dim >= 2 && dim % 2 == 0, "partial_rotary_factor",
      concat("and head_dim ", config.head_dim, " give ", dim, " rotating dimensions, which is not an even number"));
  return dim;
}

std::vector<double> read_factors(ConfigFields& dictionary, const char* key, int32_t count) {
  std::vector<double> factors;
  const Json* list = dictionary.find(key);
  dictionary.check(list != nullptr && list->is_array() && static_cast<int64_t>(list->items().size()) == count, key,
                   concat("is not a list of ", count, " numbers"));
  if (!dictionary.is_ok()) return factors;
  for (const Json& factor : list->items()) {
    dictionary.check(factor.is_number() && factor.as_double() > 0 && factor.as_double() <= kMaxFactor, key,
                     "has an entry that is not a positive number");
    factors.push_back(factor.is_number() ? factor.as_double() : 1.0);
  }
  return factors;
}

void read_yarn(ConfigFields& dictionary, RopeConfig& rope) {
  rope.beta_fast = dictionary.number("beta_fast", 0.0, kMaxFactor, 32.0);
  rope.beta_slow = dictionary.number("beta_slow", 0.0, kMaxFactor, 1.0);
  if (rope.beta_fast == 0.0) rope.beta_fast = 32.0;  // 0 counts as absent
  if (rope.beta_slow == 0.0) rope.beta_slow = 1.0;
  rope.truncate = dictionary.boolean("truncate", true);
  const double mscale = dictionary.number("mscale", 0.0, kMaxFactor, 0.0);
  const double mscale_all_dim = dictionary.number("mscale_all_dim", 0.0, kMaxFactor, 0.0);
  rope.attention_factor = dictionary.number("attention_factor", 0.0, kMaxFactor,
                                            yarn_attention_factor(rope.factor, mscale, mscale_all_dim));
}

void read_longrope(ConfigFields& dictionary, const ModelConfig& config, RopeConfig& rope) {
  rope.short_factors = read_factors(dictionary, "short_factor", rope.rotary_dim / 2);
  rope.long_factors = read_factors(dictionary, "long_factor", rope.rotary_dim / 2);
  const double implied = static_cast<double>(config.context_length) / rope.original_context;
  rope.factor = dictionary.number("factor", 0.0, kMaxFactor, implied);
  const double logs = std::log(rope.factor) / std::log(static_cast<double>(rope.original_context));
  rope.attention_factor =
      dictionary.number("attention_factor", 0.0, kMaxFactor, rope.factor <= 1.0 ? 1.0 : std::sqrt(1.0 + logs));
}

struct ScalingName {
  std::string_view name;
  RopeConfig::Scaling scaling;
};
constexpr ScalingName kScalings[] = {
    {"linear", RopeConfig::Scaling::linear},     {"llama3", RopeConfig::Scaling::llama3},
    {"yarn", RopeConfig::Scaling::yarn},         {"dynamic", RopeConfig::Scaling::dynamic},
    {"longrope", RopeConfig::Scaling::longrope},
};

std::optional<RopeConfig::Scaling> find_scaling(std::string_view name) {
  for (const ScalingName& known : kScalings)
    if (known.name == name) return known.scaling;
  return std::nullopt;
}

void read_scaling(ConfigFields& dictionary, ConfigFields& section, const ModelConfig& config, RopeConfig& rope) {
  std::string type = dictionary.string("rope_type", dictionary.string("type", "default"));
  if (type == "default") return;
  const LongRope long_rope = config.traits().long_rope;
  const bool is_long_only = long_rope == LongRope::only;
  if (is_long_only && (type == "su" || type == "yarn")) type = "longrope";  // older names
  const auto scaling = find_scaling(type);
  if (!scaling || (*scaling == RopeConfig::Scaling::longrope ? long_rope == LongRope::refused : is_long_only)) {
    dictionary.fail("rope_type", io::quoted(type) + " is not supported for " + config.architecture,
                    StatusCode::unsupported);
    return;
  }
  rope.scaling = *scaling;
  if (config.has_latents()) rope.mscale_all_dim = dictionary.number("mscale_all_dim", 0.0, kMaxFactor, 0.0);
  // A value next to the dictionary takes precedence in families that have it there.
  rope.original_context =
      dictionary.integer("original_max_position_embeddings", 1, kMaxContextLength, config.context_length);
  if (*scaling == RopeConfig::Scaling::dynamic) rope.original_context = config.context_length;
  else if (is_long_only || section.find("original_max_position_embeddings") != nullptr)
    rope.original_context = section.integer("original_max_position_embeddings", 1, kMaxContextLength, 4096);
  if (*scaling == RopeConfig::Scaling::longrope) return read_longrope(dictionary, config, rope);
  if (*scaling == RopeConfig::Scaling::yarn && dictionary.find("factor") == nullptr)
    rope.factor = static_cast<double>(config.context_length) / rope.original_context;
  else rope.factor = dictionary.number("factor", 1.0, kMaxFactor);
  if (*scaling == RopeConfig::Scaling::yarn) read_yarn(dictionary, rope);
  if (*scaling != RopeConfig::Scaling::llama3) return;
  rope.low_freq_factor = dictionary.number("low_freq_factor", 1e-3, kMaxFactor);
  rope.high_freq_factor = dictionary.number("high_freq_factor", 1e-3, kMaxFactor);
  dictionary.check(rope.high_freq_factor > rope.low_freq_factor, "high_freq_factor", "is not above low_freq_factor");
}

// If everything rotates, the scores are scaled; otherwise the norms of queries and keys include the factor.
void check_attention_factor(ConfigFields& dictionary, const ModelConfig& config, const RopeConfig& rope) {
  if (rope.attention_factor == 1.0 || rope.rotary_dim == config.head_dim || config.qk_norm) return;
  dictionary.fail("attention_factor",
                  "other than 1 is not supported with a partial_rotary_factor for " + config.architecture,
                  StatusCode::unsupported);
}

RopeConfig read_dictionary(const Json& json, const std::string& where, ConfigFields& section, const ModelConfig& config,
                           double default_theta, const char* theta_key) {
  ConfigFields dictionary(json, where);
  RopeConfig rope;
  rope.theta = dictionary.find("rope_theta") != nullptr
                   ? dictionary.number("rope_theta", kMinTheta, kMaxTheta)
                   : section.number(theta_key, kMinTheta, kMaxTheta, default_theta);
  rope.rotary_dim = read_rotary_dim(dictionary, section, config);
  read_scaling(dictionary, section, config, rope);
  check_attention_factor(dictionary, config, rope);
  if (!dictionary.is_ok()) section.adopt(dictionary.status());
  return rope;
}

// Gemma 3: a dictionary for each kind of layer; the old style has rope_scaling for full attention, and
// rope_local_base_freq.
RopeConfig read_gemma(ConfigFields& section, const ModelConfig& config, LayerKind kind) {
  const Json none;
  const bool is_local = kind == LayerKind::sliding_attention;
  const Json* parameters = section.find("rope_parameters");
  if (parameters != nullptr && !parameters->is_object()) section.fail("rope_parameters", "is not an object");
  const Json* found =
      parameters != nullptr ? parameters->find(is_local ? "sliding_attention" : "full_attention") : nullptr;
  const Json* old = is_local ? nullptr : section.find("rope_scaling");
  if (old != nullptr) found = old;
  const bool is_object = found != nullptr && found->is_object();
  const std::string where = section.where() + (old != nullptr ? ": rope_scaling" : ": rope_parameters");
  RopeConfig rope = read_dictionary(is_object ? *found : none, where, section, config, is_local ? 1e4 : 1e6,
                                    is_local ? "rope_local_base_freq" : "rope_theta");
  if (rope.depends_on_position())
    section.fail("rope_parameters", "with a scaling by position is not supported for " + config.architecture,
                 StatusCode::unsupported);
  return rope;
}

// Olmo-Hybrid as published: rope_theta is there, and is null. `parameters` may be null.
bool has_null_theta(ConfigFields& section, const Json* parameters) {
  const Json* theta = parameters != nullptr && parameters->is_object() ? parameters->find("rope_theta") : nullptr;
  return theta != nullptr ? theta->is_null() : section.has("rope_theta") && section.find("rope_theta") == nullptr;
}

}  // namespace

double yarn_attention_factor(double factor, double mscale, double mscale_all_dim) noexcept {
  const auto of = [&](double scale) { return factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0; };
  return mscale != 0.0 && mscale_all_dim != 0.0 ? of(mscale) / of(mscale_all_dim) : of(1.0);
}

int32_t scaled_context(const RopeConfig& rope, int32_t context_length) noexcept {
  if (rope.scaling != RopeConfig::Scaling::yarn && rope.scaling != RopeConfig::Scaling::dynamic) return context_length;
  const double reached = std::min<double>(rope.original_context * rope.factor, kMaxContextLength);
  return std::max(context_length, static_cast<int32_t>(reached));
}

RopeConfig read_rope_config(ConfigFields& section, const ModelConfig& config, LayerKind kind) {
  if (config.family == Family::gemma3) return read_gemma(section, config, kind);
  const char* key = "rope_scaling";
  const Json* json = section.find(key);
  if (json == nullptr || (json->is_object() && json->members().empty())) json = section.find(key = "rope_parameters");
  if (config.family == Family::kimi_linear || (config.family == Family::olmo_hybrid && has_null_theta(section, json))) {
    RopeConfig off;
    off.rotary_dim = config.head_dim;
    off.is_off = true;
    return off;
  }
  const Json none;
  if (json != nullptr && !json->is_object()) section.fail(key, "is not an object");
  const std::string where = section.where() + ": " + key;
  const auto read = [&](const Json& dictionary, const std::string& name) {
    return read_dictionary(dictionary, name, section, config, kDefaultTheta, "rope_theta");
  };
  std::vector<RopeConfig> by_kind;
  for (std::string_view name : kLayerKinds) {
    const Json* nested = json != nullptr ? json->find(name) : nullptr;
    if (nested == nullptr || nested->is_null()) continue;
    if (!nested->is_object()) section.fail(key, "has an entry " + std::string(name) + " that is not an object");
    by_kind.push_back(read(*nested, where + "." + std::string(name)));
    if (by_kind.back() != by_kind.front()) {
      section.fail(key, "differs between kinds of layers, which is not supported", StatusCode::unsupported);
    }
  }
  if (!by_kind.empty()) return by_kind.front();
  return read(json != nullptr ? *json : none, where);
}

Status set_rope_scaling(const std::string& choice, ModelConfig& config) {
  const auto refuse = [&](const std::string& why) {
    return make_field_error(StatusCode::invalid_argument, "rope_scaling",
                            "rope scaling " + io::quoted(choice) + " " + why);
  };
  std::vector<std::string> words(1);
  for (char c : choice) c == ':' ? static_cast<void>(words.emplace_back()) : words.back().push_back(c);
  RopeConfig rope;
  rope.theta = config.rope.theta;
  rope.rotary_dim = config.rope.rotary_dim;
  rope.is_off = config.rope.is_off;
  if (choice != "none") {
    const auto scaling = find_scaling(words[0]);
    if (!scaling || *scaling == RopeConfig::Scaling::llama3 || *scaling == RopeConfig::Scaling::longrope)
      return refuse("is not none, linear, dynamic or yarn");
    if (config.traits().long_rope == LongRope::only || config.family == Family::gemma3 || config.rope.is_off)
      return make_error(StatusCode::unsupported, "rope scaling cannot be set for " + config.architecture);
    if (config.indexer.is_present() && *scaling == RopeConfig::Scaling::dynamic)  // keys of blocks are cached rotated
      return make_error(StatusCode::unsupported, "rope scaling dynamic cannot be set for " + config.architecture);
    rope.scaling = *scaling;
    char* end = nullptr;
    rope.factor = words.size() > 1 ? std::strtod(words[1].c_str(), &end) : 0.0;
    if (words.size() < 2 || words.size() > 3 || *end != '\0' || !(rope.factor >= 1.0 && rope.factor <= kMaxFactor))
      return refuse("does not have a factor of at least 1, as in yarn:4");
    // The trained context length in the file is the default.
    rope.original_context = config.rope.original_context > 0 ? config.rope.original_context : config.context_length;
    if (words.size() == 3) {
      const long context = std::strtol(words[2].c_str(), &end, 10);
      if (words[2].empty() || *end != '\0' || context < 1 || context > kMaxContextLength)
        return refuse("does not end with a context in tokens");
      rope.original_context = static_cast<int32_t>(context);
    }
    if (*scaling == RopeConfig::Scaling::yarn) rope.attention_factor = yarn_attention_factor(rope.factor, 0.0, 0.0);
    if (rope.attention_factor != 1.0 && rope.rotary_dim != config.head_dim && !config.qk_norm)
      return make_error(StatusCode::unsupported, "yarn is not supported for " + config.architecture);
  }
  config.rope = config.sliding_rope = rope;
  const double reached = rope.scaling == RopeConfig::Scaling::linear ? config.context_length * rope.factor : 0.0;
  config.context_length = std::max(scaled_context(rope, config.context_length),
                                   static_cast<int32_t>(std::min<double>(reached, kMaxContextLength)));
  return ok_status();
}

}  // namespace pagoda::io
