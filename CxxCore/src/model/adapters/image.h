// AdapterImage: an adapter's numbers in the form in which the device reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash128.h"
#include "base/result.h"
#include "io/lora/lora_file.h"
#include "model/adapters/layout.h"

namespace pagoda::model {

struct AdapterImage {
  struct Entry {
    int target = 0, part = 0;
    int64_t expert = 0;
    int64_t a = 0, b = 0, rank = 0;  // offsets in `values`: A [rank, in]; B times the scale, transposed: [rank, out]
  };
  std::vector<float> values;
  std::vector<Entry> entries;
  int64_t max_rank = 0;
  Hash128Value identity;  // equal for adapters with equal products
};

// Elements of the image, from the headers alone. Fails if the model has no such projection, or one of another shape.
Result<int64_t> image_size(const AdapterLayout& layout, const io::LoraFile& file);
Result<AdapterImage> make_image(const AdapterLayout& layout, const io::LoraFile& file);

}  // namespace pagoda::model
