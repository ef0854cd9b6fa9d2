// AdapterPool: the memory of LoRA adapters on the device, and the table by which the op finds a row's matrices.
// State: one buffer of numbers, whose owner decides which adapter lies where, and one table. Thread rule: the device's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "device/adapter_ops.h"
#include "device/device.h"
#include "model/adapters/image.h"
#include "model/adapters/layout.h"

namespace pagoda::model {

constexpr int32_t kMaxAdapters = 32;  // at once

class AdapterPool {
 public:
  static Result<AdapterPool> allocate(AdapterLayout layout, int64_t size_bytes, device::Device& device);
  static int64_t table_bytes(const AdapterLayout& layout) noexcept;

  const AdapterLayout& layout() const noexcept { return layout_; }
  // Writes an adapter's numbers at element `begin`, and its entries into the slot, in place of all earlier ones.
  Status place(int32_t slot, int64_t begin, const AdapterImage& image, device::Device& device);
  // Whether any adapter that was placed changes the weight.
  bool changes(int layer_index, Role role) const noexcept;
  // out += the products of the rows' adapters. x, slots, experts and out as in device::AdapterArgs; inner is scratch of
  // inner_size() numbers.
  Status add(device::Encoder& encoder, int layer_index, Role role, const device::Tensor& x, const device::Tensor& slots,
             const device::Tensor& experts, const device::Tensor& inner, const device::Tensor& out) const;
  // For steps of `tokens`: a token has one row of up to kMaxAdapterParts projections, and one per expert of two.
  static int64_t inner_size(int64_t tokens, int64_t experts_per_token) noexcept {
    return tokens * std::max(device::kMaxAdapterParts, 2 * experts_per_token) * device::kMaxAdapterRank;
  }

 private:
  int target_of(int layer_index, Role role) const noexcept {
    const size_t at = static_cast<size_t>(layer_index) * kNumRoles + static_cast<size_t>(role);
    return layer_index >= 0 && at < index_.size() ? index_[at] : -1;
  }
  int64_t* entry(int32_t slot, int target, int64_t expert, int part) noexcept;

  AdapterLayout layout_;
  std::unique_ptr<device::Buffer> weights_, table_;
  int64_t size_ = 0;             // elements
  std::vector<int64_t> host_;    // the table; by target: [kMaxAdapters, experts, parts, kAdapterFields]
  std::vector<int64_t> begins_;  // of each target in the table
  std::vector<int> index_;       // [layers, roles]: targets, or -1
  std::vector<bool> is_used_;    // by target
  int64_t max_rank_ = 0;         // of any adapter that was placed
};

}  // namespace pagoda::model
