// RowSampler: rows are handed out one by one.
#include "engine/rows/row_sampler.h"

#include <exception>
#include <utility>

#include "engine/step_status.h"

namespace pagoda::engine {

RowSampler::RowSampler(int32_t vocab_size, int32_t max_rows, int32_t num_threads)
    : rows_(static_cast<size_t>(max_rows)) {
  if (auto pool = ThreadPool::create(num_threads); pool.is_ok()) pool_ = std::move(*pool);
  const int count = pool_ ? pool_->num_threads() : 1;
  samplers_.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) samplers_.emplace_back(vocab_size);
  for (Row& row : rows_) row.output.top_logprobs.reserve(sampler::kMaxTopLogprobs);
}

void RowSampler::add(size_t logits_row, const sampler::SampleInput& input) noexcept {
  if (num_rows_ == rows_.size()) return;
  Row& row = rows_[num_rows_++];
  row.logits_row = logits_row;
  row.input = input;
}

void RowSampler::run() noexcept {
  auto sample = [this](int64_t index, int thread) {
    Row& row = rows_[static_cast<size_t>(index)];
    try {
      row.status = samplers_[static_cast<size_t>(thread)].sample(row.input, row.output);
    } catch (const std::exception&) {
      row.status = out_of_memory();
    }
  };
  const auto count = static_cast<int64_t>(num_rows_);
  if (pool_) pool_->parallel_for(count, sample);
  else
    for (int64_t i = 0; i < count; ++i) sample(i, 0);
}

bool RowSampler::take(size_t logits_row, Status& status, sampler::SampleOutput& output) noexcept {
  while (next_ < num_rows_ && rows_[next_].logits_row < logits_row) ++next_;
  if (next_ == num_rows_ || rows_[next_].logits_row != logits_row) return false;
  Row& row = rows_[next_++];
  status = std::move(row.status);
  std::swap(output, row.output);
  return true;
}

}  // namespace pagoda::engine
