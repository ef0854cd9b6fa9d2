// Describes the weights of a plan.
#include "engine/load/weight_facts.h"

#include "base/assign_or_return.h"
#include "base/cache_folder.h"

namespace pagoda::engine {

std::string formats_text(const std::vector<FormatSum>& formats) {
  int64_t total = 0;
  for (const FormatSum& one : formats) total += one.sum.size_bytes;
  std::string text;
  for (const FormatSum& one : formats)
    if (one.sum.size_bytes * 100 >= total) text += (text.empty() ? "" : ", ") + one.format;
  return text;
}

Result<std::vector<OtherWeights>> other_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                                const device::Device& device, DType dtype, WeightFormat present) {
  std::vector<OtherWeights> others;
  std::vector<WeightFormat> formats;
  for (const char* quantize : {"auto", "8bit", "4bit"}) {
    PAGODA_ASSIGN_OR_RETURN(const WeightFormat format, model::choose_format(quantize, dtype, checkpoint));
    if (format == present) continue;
    others.push_back({.quantize = quantize});
    formats.push_back(format);
  }
  PAGODA_ASSIGN_OR_RETURN(const auto bytes, model::weight_bytes_in(config, checkpoint, device, formats));
  for (size_t i = 0; i < others.size(); ++i) {
    others[i].weights_bytes = bytes[i].size;
    others[i].token_bytes = bytes[i].token;
  }
  return others;
}

model::WeightCache weight_cache_of(const ModelSource& source, const EngineOptions& options) {
  model::WeightCache cache;
  if (!options.keep_weights) return cache;
  if (options.weight_cache_disk_bytes > 0) cache.max_bytes = options.weight_cache_disk_bytes;
  cache.folder = options.weight_cache;
  cache.is_automatic = cache.folder.empty();
  if (cache.is_automatic && !source.directory.empty()) cache.folder = user_cache_folder("weights");
  return cache;
}

}  // namespace pagoda::engine
