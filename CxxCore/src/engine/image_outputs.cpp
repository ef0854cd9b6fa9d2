// ImageOutputs: the queue in front of the vision tower, and the cache behind it.
#include "engine/image_outputs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/step_status.h"

namespace pagoda::engine {

static int64_t bytes_of(const ImageOutput& output) noexcept {
  return static_cast<int64_t>(output.rows.size() * sizeof(float));
}

std::shared_ptr<const ImageOutput> ImageOutputs::request(const PreparedImage& image) {
  const ImageIdentity identity = image.identity();
  const auto is_same = [&](const Entry& output) { return output->identity == identity; };
  if (const auto found = std::ranges::find_if(cached_, is_same); found != cached_.end()) {
    cached_.splice(cached_.begin(), cached_, found);
    ++stats_.num_hits;
    return *found;
  }
  if (const auto found = std::ranges::find_if(queue_, is_same); found != queue_.end()) {
    ++stats_.num_hits;
    return *found;
  }
  if (const Entry found = read_file(image)) return found;
  queue_.push_back(
      std::make_shared<ImageOutput>(ImageOutput{.image = image, .identity = identity, .rows = {}, .status = {}}));
  return queue_.back();
}

ImageOutputs::Entry ImageOutputs::read_file(const PreparedImage& image) {
  if (!files_) return nullptr;
  const size_t count = static_cast<size_t>(image.num_tokens()) * static_cast<size_t>(tower_->config().row_size());
  std::vector<float> rows = files_->read(image.identity(), count);
  if (rows.empty()) return nullptr;
  auto output = std::make_shared<ImageOutput>(
      ImageOutput{.image = {}, .identity = image.identity(), .rows = std::move(rows), .is_ready = true, .status = {}});
  keep(output);
  ++stats_.num_hits;
  return output;
}

// Requests may be cancelled while their images wait, or are computed.
void ImageOutputs::drop_unwanted() noexcept {
  const auto is_unwanted = [](const Entry& output) { return output.use_count() == 1; };
  if (!queue_.empty() && is_unwanted(queue_.front())) has_begun_ = false;
  std::erase_if(queue_, is_unwanted);
}

void ImageOutputs::advance(double max_seconds) noexcept {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  do {
    drop_unwanted();
    if (queue_.empty()) return;
    Status status;
    try {
      if (advance_first()) continue;
    } catch (const std::exception&) {
      status = status_of_exception();
    }
    if (!status.is_ok()) {
      queue_.front()->status = std::move(status);
      queue_.front()->is_ready = true;
    }
    queue_.pop_front();
    has_begun_ = false;
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < max_seconds);
}

bool ImageOutputs::advance_first() {
  const Entry output = queue_.front();
  Status status;
  if (!has_begun_) {
    output->rows.resize(static_cast<size_t>(output->image.num_tokens()) *
                        static_cast<size_t>(tower_->config().row_size()));
    status = tower_->begin(output->image, output->rows);
    has_begun_ = status.is_ok();
  }
  bool is_done = !status.is_ok();
  if (status.is_ok()) {
    const Result<bool> advanced = tower_->advance();
    status = advanced.status;
    is_done = !status.is_ok() || *advanced;
  }
  if (!is_done) return true;
  output->is_ready = true;
  output->image = {};
  if (status.is_ok()) {
    ++stats_.num_computed;
    if (files_) files_->write(output->identity, output->rows);
    keep(output);
  }
  output->status = std::move(status);
  return false;
}

void ImageOutputs::keep(Entry output) {
  cached_.push_front(std::move(output));
  int64_t total = 0;
  for (const Entry& each : cached_) total += bytes_of(*each);
  for (auto last = cached_.end(); last != cached_.begin() && total > max_cached_bytes_;) {
    --last;
    if (last->use_count() > 1) continue;
    total -= bytes_of(**last);
    last = cached_.erase(last);
  }
  stats_.cached_bytes = total;
}

}  // namespace pagoda::engine
