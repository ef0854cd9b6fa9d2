// The table is small: it is uploaded as a whole when an adapter is placed.
#include "model/adapters/pool.h"

#include <algorithm>
#include <utility>

#include "base/assign_or_return.h"
#include "ops/ops.h"

namespace pagoda::model {

using device::kAdapterFields;

int64_t AdapterPool::table_bytes(const AdapterLayout& layout) noexcept {
  int64_t count = 0;
  for (const AdapterTarget& target : layout.targets()) count += kMaxAdapters * target.num_matrices() * kAdapterFields;
  return count * static_cast<int64_t>(sizeof(int64_t));
}

Result<AdapterPool> AdapterPool::allocate(AdapterLayout layout, int64_t size_bytes, device::Device& device) {
  AdapterPool pool;
  pool.size_ = size_bytes / static_cast<int64_t>(sizeof(float));
  PAGODA_ASSIGN_OR_RETURN(pool.weights_, device.allocate(static_cast<size_t>(size_bytes), "LoRA adapters"));
  PAGODA_ASSIGN_OR_RETURN(pool.table_,
                          device.allocate(static_cast<size_t>(table_bytes(layout)), "the table of LoRA adapters"));
  pool.host_.resize(static_cast<size_t>(table_bytes(layout)) / sizeof(int64_t));
  int64_t begin = 0;
  for (const AdapterTarget& target : layout.targets()) {
    const size_t at = static_cast<size_t>(target.layer_index) * kNumRoles + static_cast<size_t>(target.role);
    if (at >= pool.index_.size()) pool.index_.resize(at + 1, -1);
    pool.index_[at] = static_cast<int>(pool.begins_.size());
    pool.begins_.push_back(begin);
    begin += kMaxAdapters * target.num_matrices() * kAdapterFields;
  }
  pool.is_used_.resize(layout.targets().size());
  pool.layout_ = std::move(layout);
  return pool;
}

int64_t* AdapterPool::entry(int32_t slot, int target, int64_t expert, int part) noexcept {
  const AdapterTarget& of = layout_.targets()[static_cast<size_t>(target)];
  const int64_t index = slot * of.num_matrices() + expert * static_cast<int64_t>(of.parts.size()) + part;
  return host_.data() + begins_[static_cast<size_t>(target)] + index * kAdapterFields;
}

Status AdapterPool::place(int32_t slot, int64_t begin, const AdapterImage& image, device::Device& device) {
  const auto count = static_cast<int64_t>(image.values.size());
  if (slot < 0 || slot >= kMaxAdapters || begin < 0 || count > size_ - begin)
    return make_error(StatusCode::internal, "an adapter lies outside the memory of adapters");
  for (size_t t = 0; t < layout_.targets().size(); ++t)
    std::fill_n(entry(slot, static_cast<int>(t), 0, 0), layout_.targets()[t].num_matrices() * kAdapterFields, 0);
  for (const AdapterImage::Entry& from : image.entries) {
    int64_t* to = entry(slot, from.target, from.expert, from.part);
    to[device::kAdapterA] = begin + from.a;
    to[device::kAdapterB] = begin + from.b;
    to[device::kAdapterRank] = from.rank;
    is_used_[static_cast<size_t>(from.target)] = true;
  }
  max_rank_ = std::max(max_rank_, image.max_rank);
  const device::Tensor place =
      device::dense(weights_.get(), DType::f32, {count}, begin * static_cast<int64_t>(sizeof(float)));
  PAGODA_RETURN_IF_ERROR(device.upload(place, image.values.data(), image.values.size() * sizeof(float)));
  const device::Tensor table = device::dense(table_.get(), DType::i64, {static_cast<int64_t>(host_.size())});
  return device.upload(table, host_.data(), host_.size() * sizeof(int64_t));
}

bool AdapterPool::changes(int layer_index, Role role) const noexcept {
  const int target = target_of(layer_index, role);
  return target >= 0 && is_used_[static_cast<size_t>(target)];
}

Status AdapterPool::add(device::Encoder& encoder, int layer_index, Role role, const device::Tensor& x,
                        const device::Tensor& slots, const device::Tensor& experts, const device::Tensor& inner,
                        const device::Tensor& out) const {
  if (!changes(layer_index, role)) return ok_status();
  const auto index = static_cast<size_t>(target_of(layer_index, role));
  const AdapterTarget& target = layout_.targets()[index];
  const auto parts = static_cast<int64_t>(target.parts.size());
  device::AdapterArgs args;
  args.x = x;
  args.slots = slots;
  args.experts = experts;
  args.out = out;
  args.max_rank = max_rank_;
  args.table = device::dense(table_.get(), DType::i64, {kMaxAdapters, target.num_experts, parts, kAdapterFields},
                             begins_[index] * static_cast<int64_t>(sizeof(int64_t)));
  args.weights = device::dense(weights_.get(), DType::f32, {size_});
  args.inner =
      device::dense(inner.buffer, DType::f32, {out.shape[0], parts * device::kMaxAdapterRank}, inner.offset_bytes);
  for (size_t p = 0; p < target.parts.size(); ++p) {
    args.first[p] = target.parts[p].first;
    args.count[p] = target.parts[p].rows;
  }
  return ops::add_adapters(encoder, args);
}

}  // namespace pagoda::model
