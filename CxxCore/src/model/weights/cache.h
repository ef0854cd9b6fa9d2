// WeightCacheFile: the matrices of a model in the device's format, in a file that the next load maps.
// Order in the file: head (identity, and the location of each matrix), the matrices, each on a page boundary, and on a
// page boundary the checksums of their chunks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "io/checkpoint.h"
#include "model/weights/groups.h"

namespace pagoda::model {

class WeightCacheFile {
 public:
  // Determines the name and content of the file, without accessing it. unsupported if `device` cannot adopt weights.
  static Result<WeightCacheFile> plan(const std::string& folder, const std::vector<WeightGroup>& groups,
                                      const io::Checkpoint& checkpoint, const device::Device& device,
                                      WeightFormat format);

  const std::string& path() const noexcept { return path_; }

  // The pieces of the matrices among the groups, in order. Fails with not_found, or with bad_file if write() did not
  // write this file.
  Result<std::vector<std::unique_ptr<device::Weight>>> read(device::Device& device) const;
  // Removes the least recently used files of the folder if necessary. Fails with resource_exhausted if the file alone
  // exceeds `max_bytes`.
  Status write(const std::vector<const device::Weight*>& matrices, int64_t max_bytes) const;

 private:
  struct Extent {
    WeightFormat format;
    uint64_t offset_bytes, size_bytes;
    int64_t rows, cols;
  };

  std::string folder_, path_, head_;
  std::vector<Extent> extents_;
  uint64_t sums_offset_bytes_ = 0, size_bytes_ = 0;
};

}  // namespace pagoda::model
