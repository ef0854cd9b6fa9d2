// Reads one expert of a matrix: the rows of all parts that belong to it, one after the other in its slot.
#include "device/cpu/stored/streamed_experts.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/cpu/packed_weight.h"
#include "device/cpu/stored/stored_weight.h"
#include "device/host/host_memory.h"
#include "device/host/host_weight.h"
#include "device/joined_weight.h"

namespace pagoda::device::cpu {
namespace {

// Memory of a slot, which belongs to the store.
class SlotBuffer final : public Buffer {
 public:
  explicit SlotBuffer(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
  size_t size_bytes() const noexcept override { return bytes_.size(); }
  std::byte* host_pointer() noexcept override { return bytes_.data(); }

 private:
  std::span<std::byte> bytes_;
};

size_t bytes_of(int64_t rows, int64_t cols, WeightFormat format, const Kernels& kernels) noexcept {
  if (is_stored(format)) return static_cast<size_t>(stored_layout(format, rows, cols).size_bytes);
  if (is_packed(format)) return static_cast<size_t>(packed_layout(format, rows, cols, kernels.packed.run).size_bytes);
  return host::weight_bytes(rows, cols, format);
}

size_t aligned(size_t n) noexcept { return (n + host::kAlignment - 1) / host::kAlignment * host::kAlignment; }

// Rows [first, first + count) of a source.
WeightSource slice_of(const WeightSource& source, int64_t first, int64_t count) {
  WeightSource slice{source.name, source.dtype, count, source.cols, nullptr};
  slice.read_rows = [&source, first](int64_t begin, int64_t n, std::byte* into) {
    return source.read_rows(first + begin, n, into);
  };
  if (source.read_stored)
    slice.read_stored = [&source, first](int64_t begin, int64_t n, std::span<std::byte> into) {
      return source.read_stored(first + begin, n, into);
    };
  return slice;
}

class ExpertReader {
 public:
  ExpertReader(std::vector<WeightPart> parts, int64_t rows_per_expert, const Kernels& kernels)
      : parts_(std::move(parts)), rows_(rows_per_expert), kernels_(kernels) {}

  // The same for every expert, or the largest.
  size_t slot_bytes(int64_t num_experts) const {
    size_t most = 0;
    for (int64_t expert = 0; expert < num_experts; ++expert) {
      size_t total = 0;
      over_parts(expert, [&](const WeightPart& part, int64_t, int64_t count) {
        total += aligned(bytes_of(count, part.source.cols, part.format, kernels_));
      });
      most = std::max(most, total);
      if (parts_.size() == 1) break;
    }
    return most;
  }

  Result<std::unique_ptr<Weight>> read(int64_t expert, std::span<std::byte> slot) const {
    PAGODA_ASSIGN_OR_RETURN(const auto alone, ThreadPool::create(1));  // the device's pool is in use
    std::vector<std::unique_ptr<Weight>> pieces;
    Status failed;
    size_t used = 0;
    over_parts(expert, [&](const WeightPart& part, int64_t first, int64_t count) {
      if (!failed.is_ok()) return;
      const size_t size = bytes_of(count, part.source.cols, part.format, kernels_);
      Result<std::unique_ptr<Weight>> piece = read_piece(part, first, count, slot.subspan(used, size), *alone);
      used += aligned(size);
      if (piece.is_ok()) pieces.push_back(std::move(*piece));
      else failed = std::move(piece.status);
    });
    PAGODA_RETURN_IF_ERROR(failed);
    if (parts_.size() == 1) return std::move(pieces.front());
    return std::unique_ptr<Weight>(new JoinedWeight(std::move(pieces)));
  }

 private:
  // Calls body(part, first of its rows, count) for each part with rows of the expert.
  template <class Body>
  void over_parts(int64_t expert, Body&& body) const {
    const int64_t begin = expert * rows_, end = begin + rows_;
    int64_t first_row = 0;
    for (const WeightPart& part : parts_) {
      const int64_t from = std::max(begin, first_row), to = std::min(end, first_row + part.source.rows);
      if (from < to) body(part, from - first_row, to - from);
      first_row += part.source.rows;
    }
  }

  Result<std::unique_ptr<Weight>> read_piece(const WeightPart& part, int64_t first, int64_t count,
                                             std::span<std::byte> place, ThreadPool& pool) const {
    const WeightSource source = slice_of(part.source, first, count);
    auto buffer = std::make_unique<SlotBuffer>(place);
    if (is_stored(part.format)) {
      const StoredLayout layout = stored_layout(part.format, count, source.cols);
      PAGODA_RETURN_IF_ERROR(fill_stored_weight(source, layout, pool, place.data()));
      return std::unique_ptr<Weight>(new StoredWeight(part.format, layout, std::move(buffer)));
    }
    if (is_packed(part.format)) {
      const PackedLayout layout = packed_layout(part.format, count, source.cols, kernels_.packed.run);
      PAGODA_RETURN_IF_ERROR(fill_packed_weight(source, part.format, layout, kernels_, pool, place.data()));
      return std::unique_ptr<Weight>(new PackedWeight(layout, part.format, std::move(buffer)));
    }
    std::memset(place.data(), 0, place.size());
    PAGODA_RETURN_IF_ERROR(host::fill_weight(source, part.format, &pool, place.data()));
    const DType dtype = part.format == WeightFormat::f16 ? DType::f16 : DType::f32;
    return std::unique_ptr<Weight>(new host::HostWeight(std::move(buffer), count, source.cols, dtype));
  }

  std::vector<WeightPart> parts_;
  int64_t rows_;
  const Kernels& kernels_;
};

}  // namespace

Result<std::unique_ptr<Weight>> make_streamed_experts(std::vector<WeightPart> parts, int64_t num_experts,
                                                      const Kernels& kernels, host::ExpertStore& store) {
  const WeightSource& first = parts.front().source;
  const int64_t cols = first.cols;
  const std::string name = first.name;
  const WeightFormat format = parts.size() == 1 ? parts.front().format : WeightFormat::stored;
  int64_t rows = 0;
  size_t size_bytes = 0;
  for (const WeightPart& part : parts) {
    PAGODA_RETURN_IF_ERROR(is_stored(part.format) ? host::check_stored_source(part.source, part.format)
                                                  : host::check_source(part.source));
    rows += part.source.rows;
    size_bytes += bytes_of(part.source.rows, cols, part.format, kernels);
  }
  if (num_experts < 1 || rows % (num_experts * kExpertRowMultiple) != 0)
    return make_error(StatusCode::invalid_argument,
                      concat("weight ", name, ": ", rows, " rows are not blocks of ", num_experts, " experts"));
  auto reader = std::make_shared<ExpertReader>(std::move(parts), rows / num_experts, kernels);
  const size_t slot_bytes = reader->slot_bytes(num_experts);
  const int index =
      store.add({.name = name,
                 .num_experts = num_experts,
                 .slot_bytes = slot_bytes,
                 .read = [reader](int64_t expert, std::span<std::byte> slot) { return reader->read(expert, slot); }});
  return std::unique_ptr<Weight>(new StreamedExperts(store, index, rows, cols, format, size_bytes));
}

}  // namespace pagoda::device::cpu
