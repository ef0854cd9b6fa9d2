// RequestTable: the requests in flight, by id. Thread rule: the engine's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "engine/active_request.h"

namespace pagoda::engine {

class RequestTable {
 public:
  // The memory for put() of this id, which then cannot fail; erase() gives it back.
  void reserve(uint64_t id) { requests_.try_emplace(id); }
  void put(std::unique_ptr<ActiveRequest> request) noexcept {
    requests_.find(request->sequence.id)->second = std::move(request);
  }
  void erase(uint64_t id) noexcept { requests_.erase(id); }

  // Null if the request has ended.
  ActiveRequest* find(uint64_t id) const noexcept {
    const auto found = requests_.find(id);
    return found == requests_.end() ? nullptr : found->second.get();
  }
  // The request of a sequence that the scheduler or a plan names: it has not ended.
  ActiveRequest& of(const request::Sequence& sequence) const noexcept { return *requests_.find(sequence.id)->second; }
  ActiveRequest* any() const noexcept { return requests_.empty() ? nullptr : requests_.begin()->second.get(); }

 private:
  std::unordered_map<uint64_t, std::unique_ptr<ActiveRequest>> requests_;
};

}  // namespace pagoda::engine
