// WeightCacheFile: the matrices of a model in the device's format, in a file that the next load maps.
// Order in the file: head (identity, and the location of each matrix), the matrices, each on a page boundary, and on a
// page boundary the checksums of their chunks.
#pragma once

#include <cstdint>
#include <functional>
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

  uint64_t size_bytes() const noexcept { return size_bytes_; }

  // The pieces of the matrices among the groups, in order. Fails with not_found, or with bad_file if write() did not
  // write this file. `count_bytes` receives the bytes of each; its error ends the reading.
  Result<std::vector<std::unique_ptr<device::Weight>>> read(
      device::Device& device, const std::function<Status(int64_t num_bytes)>& count_bytes) const;
  // Fails with resource_exhausted if the file alone exceeds `max_bytes`.
  Status check_size(int64_t max_bytes) const;
  // Removes the least recently used files of the folder if necessary. Fails as check_size() does, and with the error of
  // `go_on`, which is asked now and then.
  Status write(const std::vector<const device::Weight*>& matrices, device::Device& device, int64_t max_bytes,
               const std::function<Status()>& go_on) const;
  // The most that all files of the folder may have without a limit of the caller: a quarter of the disk's free space,
  // to which the files themselves count.
  int64_t share_of_disk() const;

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
