// Old style: rope_theta and rope_scaling beside the sizes. New style: all in rope_parameters, perhaps by kind of layer.
#include "io/config/rope.h"

#include <string>
#include <string_view>

#include "base/quoted.h"

namespace pagoda::io {
namespace {

constexpr double kDefaultTheta = 10000.0;
constexpr double kMinTheta = 1.0, kMaxTheta = 1e15;
constexpr double kMaxFactor = 1e6;
constexpr std::string_view kLayerKinds[] = {"full_attention", "sliding_attention", "linear_attention"};

// What stands in the dictionary counts before what stands beside it.
double number_of(ConfigFields& dictionary, ConfigFields& section, std::string_view key, double min, double max,
                 double fallback) {
  if (dictionary.find(key) == nullptr) return section.number(key, min, max, fallback);
  return dictionary.number(key, min, max);
}

int32_t read_rotary_dim(ConfigFields& dictionary, ConfigFields& section, const ModelConfig& config) {
  const bool partial_family = is_hybrid(config.family);
  const double factor = number_of(dictionary, section, "partial_rotary_factor", 1e-3, 1.0, partial_family ? 0.25 : 1.0);
  if (!partial_family && factor != 1.0) {
    dictionary.fail("partial_rotary_factor", "is not supported for " + config.architecture, StatusCode::unsupported);
  }
  const auto dim = static_cast<int32_t>(config.head_dim * factor);
  dictionary.check(dim >= 2 && dim % 2 == 0, "partial_rotary_factor",
                   "and head_dim " + std::to_string(config.head_dim) + " give " + std::to_string(dim) +
                       " rotating dimensions, which is not an even number");
  return dim;
}

void read_scaling(ConfigFields& dictionary, const ModelConfig& config, RopeConfig& rope) {
  const std::string type = dictionary.string("rope_type", dictionary.string("type", "default"));
  if (type == "default") return;
  if (type != "linear" && type != "llama3") {
    dictionary.fail("rope_type", io::quoted(type) + " is not supported", StatusCode::unsupported);
    return;
  }
  rope.factor = dictionary.number("factor", 1.0, kMaxFactor);
  rope.scaling = type == "linear" ? RopeConfig::Scaling::linear : RopeConfig::Scaling::llama3;
  if (type == "linear") return;
  rope.low_freq_factor = dictionary.number("low_freq_factor", 1e-3, kMaxFactor);
  rope.high_freq_factor = dictionary.number("high_freq_factor", 1e-3, kMaxFactor);
  dictionary.check(rope.high_freq_factor > rope.low_freq_factor, "high_freq_factor", "is not above low_freq_factor");
  rope.original_context =
      dictionary.integer("original_max_position_embeddings", 1, kMaxContextLength, config.context_length);
}

RopeConfig read_dictionary(const Json& json, const std::string& where, ConfigFields& section,
                           const ModelConfig& config) {
  ConfigFields dictionary(json, where);
  RopeConfig rope;
  rope.theta = number_of(dictionary, section, "rope_theta", kMinTheta, kMaxTheta, kDefaultTheta);
  rope.rotary_dim = read_rotary_dim(dictionary, section, config);
  read_scaling(dictionary, config, rope);
  if (!dictionary.is_ok()) section.adopt(dictionary.status());
  return rope;
}

}  // namespace

RopeConfig read_rope_config(ConfigFields& section, const ModelConfig& config) {
  const Json none;
  const char* key = "rope_scaling";
  const Json* json = section.find(key);
  if (json == nullptr || (json->is_object() && json->members().empty())) json = section.find(key = "rope_parameters");
  if (json != nullptr && !json->is_object()) section.fail(key, "is not an object");
  const std::string where = section.where() + ": " + key;

  std::vector<RopeConfig> by_kind;
  for (std::string_view kind : kLayerKinds) {
    const Json* nested = json != nullptr ? json->find(kind) : nullptr;
    if (nested == nullptr || nested->is_null()) continue;
    if (!nested->is_object()) section.fail(key, "has an entry " + std::string(kind) + " that is not an object");
    by_kind.push_back(read_dictionary(*nested, where + "." + std::string(kind), section, config));
    if (by_kind.back() != by_kind.front()) {
      section.fail(key, "differs between kinds of layers, which is not supported", StatusCode::unsupported);
    }
  }
  if (!by_kind.empty()) return by_kind.front();
  return read_dictionary(json != nullptr ? *json : none, where, section, config);
}

}  // namespace pagoda::io
