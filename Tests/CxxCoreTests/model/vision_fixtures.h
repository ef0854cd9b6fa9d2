// The fixtures of Tests/Fixtures/vision: images as pixels, and what transformers computes for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/config/vision.h"
#include "model/model_runner.h"
#include "pagoda/image.h"

namespace pagoda::test {

template <class T>
std::vector<T> tensor_values(const io::Checkpoint& checkpoint, const std::string& name) {
  const io::TensorEntry* tensor = checkpoint.find(name);
  if (tensor == nullptr) return {};
  std::vector<T> values(tensor->size_bytes / sizeof(T));
  CHECK_OK(checkpoint.read(*tensor, 0, std::as_writable_bytes(std::span(values))));
  return values;
}

inline Result<io::Checkpoint> open_tensors(const std::string& path) {
  auto files = io::open_model_files(folder(path));
  return files.is_ok() ? io::Checkpoint::open(**files) : Result<io::Checkpoint>(files.status);
}

// The tensor `name`, [height, width, 3], as an image that needs no resizing. No tokens if there is no such tensor.
inline PreparedImage image_of(const io::Checkpoint& checkpoint, const std::string& name,
                              const io::VisionConfig& config) {
  const std::vector<int32_t> values = tensor_values<int32_t>(checkpoint, name);
  if (values.empty()) return {};
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  const std::vector<int64_t>& shape = checkpoint.find(name)->shape;
  ImageOptions options;
  options.patch_size = config.patch_size;
  options.merge_size = config.merge_size;
  options.temporal_patch_size = config.temporal_patch_size;
  options.min_pixels = 1;
  PreparedImageResult prepared = prepare_image(bytes.data(), static_cast<int64_t>(bytes.size()),
                                               static_cast<int32_t>(shape[1]), static_cast<int32_t>(shape[0]), options);
  CHECK_OK(prepared.status);
  CHECK_EQ(prepared.image.num_patches() * config.patch_size * config.patch_size,
           static_cast<int32_t>(shape[0] * shape[1]));
  return prepared.image;
}

}  // namespace pagoda::test
