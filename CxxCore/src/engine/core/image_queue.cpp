// ImageQueue: gives the tower its share of a step, and sequences their rows.
#include "engine/core/image_queue.h"

#include <algorithm>

#include "engine/step_status.h"

namespace pagoda::engine {

// Time of the tower in one step: while others decode, about as long as a step of a large model, so that their answers
// slow down and do not stall; else long enough that the engine seldom looks up, and new requests are still seen soon.
constexpr double kSecondsBesideOthers = 0.03, kSecondsAlone = 0.2;

// Whether all images are computed; then the sequence knows their rows.
static bool has_rows(ActiveRequest& request) noexcept {
  if (!std::ranges::all_of(request.outputs, [](const auto& output) { return output->is_ready; })) return false;
  for (size_t i = 0; i < request.outputs.size(); ++i) request.sequence.images[i].rows = request.outputs[i]->rows.data();
  return true;
}

bool ImageQueue::add(ActiveRequest& request) {
  request.outputs.reserve(request.images.size());
  for (const PromptImage& each : request.images) request.outputs.push_back(outputs_.request(each.image));
  request.images.clear();
  if (has_rows(request)) return true;
  waiting_.push_back(request.sequence.id);
  return false;
}

void ImageQueue::advance(bool beside_others) noexcept {
  outputs_.advance(beside_others ? kSecondsBesideOthers : kSecondsAlone);
}

ActiveRequest* ImageQueue::find_ready(const RequestTable& requests) const noexcept {
  for (uint64_t id : waiting_)
    if (ActiveRequest* request = requests.find(id); has_rows(*request)) return request;
  return nullptr;
}

Status status_of_images(const ActiveRequest& request) noexcept {
  for (const auto& output : request.outputs)
    if (!output->status.is_ok()) return copy_of(output->status);
  return ok_status();
}

}  // namespace pagoda::engine
