// ImageOutputs: the rows that a vision tower computes for the images of prompts, one after the other in the order of
// their arrival, and a cache of them by the content of the image.
// Rows that a request holds stay; the others stay until they take more than a limit, and the least recently used
// go first.
// Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/disk/image_files.h"
#include "model/vision/tower.h"
#include "pagoda/image.h"
#include "pagoda/statistics.h"

namespace pagoda::engine {

struct ImageOutput {
  PreparedImage image;  // until it is computed
  ImageIdentity identity;
  std::vector<float> rows;  // [num_tokens, VisionConfig::row_size()]
  bool is_ready = false;
  Status status;  // of a tower that failed
};

class ImageOutputs {
 public:
  // Without a tower there are no images.
  ImageOutputs(std::shared_ptr<model::VisionTower> tower, int64_t max_cached_bytes,
               std::shared_ptr<const ImageFiles> files = nullptr)
      : tower_(std::move(tower)), max_cached_bytes_(max_cached_bytes), files_(std::move(files)) {}

  // The output of an image: cached here or in a file, in progress, or now the last in the queue.
  std::shared_ptr<const ImageOutput> request(const PreparedImage& image);

  bool has_work() const noexcept { return !queue_.empty(); }
  // Computes parts of the first images of the queue for about this long; at least one part. An image that no request
  // holds any more is dropped.
  void advance(double max_seconds) noexcept;

  const ImageStats& stats() const noexcept { return stats_; }

 private:
  using Entry = std::shared_ptr<ImageOutput>;

  void drop_unwanted() noexcept;
  Entry read_file(const PreparedImage& image);  // null if there is no file
  bool advance_first();                         // false if the first image of the queue has ended
  void keep(Entry output);

  std::shared_ptr<model::VisionTower> tower_;
  int64_t max_cached_bytes_;
  std::shared_ptr<const ImageFiles> files_;  // or null
  std::deque<Entry> queue_;                  // the first may be in progress
  bool has_begun_ = false;
  std::list<Entry> cached_;  // the most recently used first
  ImageStats stats_;
};

}  // namespace pagoda::engine
