// WeightCacheFile: the matrices of a model as a device keeps them, in a file that the next load maps.
// Order in the file: head (what it is, and where each matrix lies), the matrices, each from a page on, and from a page
// on the checksums of their chunks.
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
  // Decides name and content of the file, without touching it. unsupported when `device` cannot adopt weights.
  static Result<WeightCacheFile> plan(const std::string& folder, const std::vector<WeightGroup>& groups,
                                      const io::Checkpoint& checkpoint, const device::Device& device,
                                      WeightFormat format);

  const std::string& path() const noexcept { return path_; }

  // The matrices among the groups, in their order. not_found, or bad_file when it is not what write() writes.
  Result<std::vector<std::unique_ptr<device::Weight>>> read(device::Device& device) const;
  // Makes room in the folder, if it must, by removing what was not used for longest. resource_exhausted when the file
  // alone has more than `max_bytes`.
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
