// EngineCore: requests whose images the vision tower has still to compute. They wait outside the scheduler, which
// therefore plans only sequences whose rows are all known.
#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

using request::ImageSpan;
using request::Sequence;

// Time of the tower in one step: while others decode, about as long as a step of a large model, so that their answers
// slow down and do not stall; else long enough that the engine seldom looks up, and new requests are still seen soon.
constexpr double kSecondsBesideOthers = 0.03, kSecondsAlone = 0.2;

static Status refuse_images(const std::string& why) { return make_error(StatusCode::invalid_argument, why); }

// Checks that the placeholders are those of the images, and gives the tokens of each image its keys and its place.
Status EngineCore::prepare_images(const Request& request, ActiveRequest& active) const {
  Sequence& sequence = active.sequence;
  const std::vector<int32_t>& ids = request.prompt_ids;
  if (request.images.empty()) return ok_status();
  if (!config_.tower) return make_error(StatusCode::unsupported, "the model takes no images: " + config_.no_images);
  if (request.num_prompt_logprobs >= 0 || !request.answer_ids.empty())
    return refuse_images("images exclude log probabilities of the prompt and checked answers");
  const int32_t merge = config_.tower->config().merge_size, pad = config_.tower->config().image_token_id;
  int32_t end = 0, position = 0;
  for (size_t i = 0; i < request.images.size(); ++i) {
    const PreparedImage& image = request.images[i].image;
    const int32_t begin = request.images[i].first_token, count = image.num_tokens();
    if (Status status = config_.tower->check(image); !status.is_ok())
      return make_error(status.code, concat("image ", i, ": ", status.message));
    if (begin < end || begin > static_cast<int64_t>(ids.size()) - count)
      return refuse_images(concat("image ", i, " has ", count, " tokens from ", begin, ", which overlap another image ",
                                  "or the end of a prompt of ", ids.size(), " tokens"));
    position += begin - end;
    for (int32_t token = begin; token < begin + count; ++token) {
      if (ids[static_cast<size_t>(token)] != pad)
        return refuse_images(concat("token ", token, " is ", ids[static_cast<size_t>(token)], "; image ", i, " needs ",
                                    count, " tokens ", pad, " from ", begin));
      sequence.tokens[static_cast<size_t>(token)] = request::image_key(image.identity(), token - begin);
    }
    sequence.images.push_back(
        {.begin = begin, .height = image.grid_h() / merge, .width = image.grid_w() / merge, .position = position});
    position = sequence.images.back().next_position();
    end = begin + count;
  }
  active.images = request.images;
  return ok_status();
}

// Asks for the rows of the request's images. True if all are known, so that it can be scheduled.
bool EngineCore::find_images(ActiveRequest& request) {
  request.outputs.reserve(request.images.size());
  for (const PromptImage& each : request.images) request.outputs.push_back(images_.request(each.image));
  request.images.clear();
  return has_images(request);
}

bool EngineCore::has_images(ActiveRequest& request) noexcept {
  if (!std::ranges::all_of(request.outputs, [](const auto& output) { return output->is_ready; })) return false;
  for (size_t i = 0; i < request.outputs.size(); ++i) request.sequence.images[i].rows = request.outputs[i]->rows.data();
  return true;
}

void EngineCore::advance_images() noexcept {
  if (unseen_.empty()) return;
  images_.advance(scheduler_.has_work() ? kSecondsBesideOthers : kSecondsAlone);
  for (size_t i = 0; i < unseen_.size();) {  // in the order of their arrival
    ActiveRequest& request = *requests_.at(unseen_[i]);
    if (!has_images(request)) {
      ++i;
      continue;
    }
    Status status;
    for (const auto& output : request.outputs)
      if (status.is_ok() && !output->status.is_ok()) status = copy_of(output->status);
    if (status.is_ok()) {
      try {
        scheduler_.add(&request.sequence, now());  // changes nothing if it throws
        unseen_.erase(unseen_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      } catch (const std::exception&) {
        status = status_of_exception();
      }
    }
    finish(request, FinishReason::error, std::move(status));
  }
  publish_stats();
}

}  // namespace pagoda::engine
