// Reads preprocessor_config.json: numbers of pixels, and mean and deviation of the colours.
#include "io/config/preprocessor.h"

#include <algorithm>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json.h"
#include "io/config/fields.h"

namespace pagoda::io {
namespace {

constexpr int32_t kMaxPixels = 1 << 28;

// Qwen2-VL's names, and Qwen3-VL's: `size`, whose edges are numbers of pixels too.
void read_pixels(ConfigFields& fields, ImageOptions& options) {
  const auto fallback = [](int64_t pixels) { return static_cast<int32_t>(pixels); };
  options.min_pixels = fields.integer("min_pixels", 1, kMaxPixels, fallback(options.min_pixels));
  options.max_pixels = fields.integer("max_pixels", 1, kMaxPixels, fallback(options.max_pixels));
  const Json* size = fields.find("size");
  if (size == nullptr || !size->is_object()) return;
  ConfigFields edges(*size, fields.where() + ": size");
  options.min_pixels = edges.integer("shortest_edge", 1, kMaxPixels, fallback(options.min_pixels));
  options.max_pixels = edges.integer("longest_edge", 1, kMaxPixels, fallback(options.max_pixels));
  fields.adopt(edges.status());
}

void read_colours(ConfigFields& fields, const char* key, float (&values)[3]) {
  const Json* list = fields.find(key);
  if (list == nullptr) return;
  const bool is_list = list->is_array() && list->items().size() == 3 &&
                       std::ranges::all_of(list->items(), [](const Json& item) { return item.is_number(); });
  fields.check(is_list, key, "is not a list of 3 numbers");
  for (size_t i = 0; is_list && i < 3; ++i) values[i] = static_cast<float>(list->items()[i].as_double());
}

}  // namespace

Result<ImageOptions> read_image_options(std::string_view text, const std::string& where, const VisionConfig& vision) {
  ImageOptions options;
  options.patch_size = vision.patch_size;
  options.merge_size = vision.merge_size;
  options.temporal_patch_size = vision.temporal_patch_size;
  if (text.empty()) return options;
  PAGODA_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  if (!json.is_object()) return make_error(StatusCode::bad_file, where + " is not an object");
  ConfigFields fields(json, where);
  read_pixels(fields, options);
  read_colours(fields, "image_mean", options.mean);
  read_colours(fields, "image_std", options.std);
  for (const auto& [key, value] : {std::pair{"patch_size", vision.patch_size},
                                   {"merge_size", vision.merge_size},
                                   {"temporal_patch_size", vision.temporal_patch_size}})
    fields.check(fields.integer(key, 1, 1 << 10, value) == value, key, concat("differs from config.json: ", value));
  if (!fields.is_ok()) return fields.status();
  return options;
}

}  // namespace pagoda::io
