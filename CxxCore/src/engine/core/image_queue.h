// ImageQueue: requests whose images the vision tower has still to compute. They wait outside the scheduler, which
// therefore plans only sequences whose rows are all known. Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/active_request.h"
#include "engine/core/request_table.h"
#include "engine/image_outputs.h"
#include "pagoda/statistics.h"

namespace pagoda::engine {

class ImageQueue {
 public:
  explicit ImageQueue(ImageOutputs outputs) : outputs_(std::move(outputs)) {}

  // Asks for the rows of the request's images. True if all are known, so that it can be scheduled; else it waits here.
  bool add(ActiveRequest& request);
  bool erase(uint64_t id) noexcept { return std::erase(waiting_, id) > 0; }  // false if it did not wait here

  // Computes images for about one step's time; `beside_others`: other requests are being answered.
  void advance(bool beside_others) noexcept;
  // The first request, in the order of arrival, whose images are all computed; or null.
  ActiveRequest* find_ready(const RequestTable& requests) const noexcept;

  int32_t num_waiting() const noexcept { return static_cast<int32_t>(waiting_.size()); }
  const ImageStats& stats() const noexcept { return outputs_.stats(); }

 private:
  ImageOutputs outputs_;
  std::vector<uint64_t> waiting_;  // in the order of arrival
};

// The first error of the request's images, which are all computed.
Status status_of_images(const ActiveRequest& request) noexcept;

}  // namespace pagoda::engine
