// Adapters: the first gap that is large enough; there are at most a few dozen.
#include "engine/adapters.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/concat.h"
#include "base/quoted.h"
#include "model/adapters/pool.h"

namespace pagoda::engine {

struct AdapterSpace {
  struct Part {
    int64_t begin = 0, size = 0;
    int32_t slot = 0;
  };
  std::mutex mutex;
  int64_t size = 0;         // elements
  std::vector<Part> parts;  // in use, by position; reserved
};

Adapter::~Adapter() {
  if (!space) return;
  const std::lock_guard lock(space->mutex);
  std::erase_if(space->parts, [this](const AdapterSpace::Part& part) { return part.slot == slot; });
}

Adapters::Adapters(int64_t size_bytes) : space_(std::make_shared<AdapterSpace>()) {
  space_->size = size_bytes / static_cast<int64_t>(sizeof(float));
  space_->parts.reserve(model::kMaxAdapters);
}

Status check_adapter_name(const std::string& name) {
  const bool is_plain = !name.empty() && name.size() <= 200 && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c < 127 && c != '=' && c != '"' && c != '\\' && c != '?' && c != '#';
  });
  if (is_plain) return ok_status();
  return make_error(StatusCode::invalid_argument,
                    "the name of an adapter must be 1 to 200 printable ASCII characters without spaces, quotes, "
                    "backslashes, = ? and #, not " +
                        io::quoted(name));
}

Result<std::shared_ptr<Adapter>> Adapters::reserve(const std::string& name, const std::string& folder,
                                                   int64_t num_elements) {
  PAGODA_RETURN_IF_ERROR(check_adapter_name(name));
  if (find(name)) return make_error(StatusCode::invalid_argument, "an adapter named " + name + " is loaded already");
  auto adapter = std::make_shared<Adapter>();
  adapter->name = name;
  adapter->folder = folder;
  adapter->size = num_elements;
  const std::lock_guard lock(space_->mutex);
  auto& parts = space_->parts;
  if (parts.size() == static_cast<size_t>(model::kMaxAdapters))
    return make_error(StatusCode::resource_exhausted,
                      concat("at most ", model::kMaxAdapters, " LoRA adapters can be loaded at once"));
  int64_t begin = 0, used = 0;
  auto next = parts.begin();
  for (; next != parts.end() && next->begin - begin < num_elements; ++next) begin = next->begin + next->size;
  for (const AdapterSpace::Part& part : parts) used += part.size;
  if (next == parts.end() && space_->size - begin < num_elements)
    return make_error(StatusCode::out_of_memory,
                      concat("adapter ", name, " takes ", num_elements * 4, " bytes; of the ", space_->size * 4,
                             " bytes for LoRA adapters (lora_bytes) ", used * 4, " are in use"));
  std::array<bool, model::kMaxAdapters> is_used{};
  for (const AdapterSpace::Part& part : parts) is_used[static_cast<size_t>(part.slot)] = true;
  adapter->slot = static_cast<int32_t>(std::ranges::find(is_used, false) - is_used.begin());
  adapter->begin = begin;
  parts.insert(next, {begin, num_elements, adapter->slot});
  adapter->space = space_;
  return adapter;
}

Status Adapters::publish(std::shared_ptr<Adapter> adapter) {
  const std::lock_guard lock(mutex_);
  const std::string name = adapter->name;
  if (adapters_.emplace(name, std::move(adapter)).second) return ok_status();
  return make_error(StatusCode::invalid_argument, "an adapter named " + name + " is loaded already");
}

Status Adapters::remove(const std::string& name) {
  std::shared_ptr<const Adapter> removed;  // freed after the lock
  const std::lock_guard lock(mutex_);
  const auto found = adapters_.find(name);
  if (found == adapters_.end()) return make_error(StatusCode::not_found, "no adapter named " + name + " is loaded");
  removed = std::move(found->second);
  adapters_.erase(found);
  return ok_status();
}

std::shared_ptr<const Adapter> Adapters::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = adapters_.find(name);
  return found == adapters_.end() ? nullptr : found->second;
}

std::vector<LoraInfo> Adapters::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<LoraInfo> all;
  for (const auto& [name, adapter] : adapters_)
    all.push_back({name, adapter->folder, adapter->size * static_cast<int64_t>(sizeof(float))});
  return all;
}

std::string adapter_salt(const Adapter& adapter, const std::string& salt) {
  constexpr size_t kLongerThanAny = 257;
  return std::string(kLongerThanAny, 'L') + adapter.identity + salt;
}

}  // namespace pagoda::engine
