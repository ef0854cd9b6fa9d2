// StreamedExperts: a matrix of experts that are read from files when a step needs them, and arranged as the CPU's
// kernels read them. An expert has the same bytes as in a matrix in memory, so that results have the same bits.
#pragma once

#include <memory>
#include <vector>

#include "base/threads/thread_pool.h"
#include "device/cpu/kernels.h"
#include "device/device.h"
#include "device/host/expert_store.h"

namespace pagoda::device::cpu {

class StreamedExperts final : public Weight {
 public:
  StreamedExperts(host::ExpertStore& store, int index, int64_t rows, int64_t cols, WeightFormat format,
                  size_t size_bytes) noexcept
      : store_(store), index_(index), rows_(rows), cols_(cols), format_(format), size_bytes_(size_bytes) {}
  int64_t rows() const noexcept override { return rows_; }
  int64_t cols() const noexcept override { return cols_; }
  WeightFormat format() const noexcept override { return format_; }
  size_t size_bytes() const noexcept override { return size_bytes_; }  // of all experts
  std::span<const std::byte> bytes() const noexcept override { return {}; }
  bool is_streamed() const noexcept override { return true; }

  // See ExpertStore. The weight of an expert has rows() / num_experts rows.
  void prefetch(std::span<const int32_t> experts) const noexcept { store_.prefetch(index_, experts); }
  void guess(std::span<const int32_t> experts) const noexcept { store_.guess(index_, experts); }
  void start(std::span<const int32_t> experts) const noexcept { store_.start(index_, experts); }
  Result<std::span<const host::ExpertStore::Resident>> next() const noexcept { return store_.next(); }

 private:
  host::ExpertStore& store_;
  int index_;
  int64_t rows_, cols_;
  WeightFormat format_;
  size_t size_bytes_;
};

// Adds a matrix to the store.
Result<std::unique_ptr<Weight>> make_streamed_experts(std::vector<WeightPart> parts, int64_t num_experts,
                                                      const Kernels& kernels, host::ExpertStore& store);

}  // namespace pagoda::device::cpu
