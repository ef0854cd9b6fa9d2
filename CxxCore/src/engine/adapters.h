// Adapters: the LoRA adapters of an engine by name, and which part of their memory each occupies.
// State: the adapters that requests may choose. One that was removed keeps its memory until its last request has ended.
// Thread rule: any thread; Adapter is immutable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "pagoda/lora.h"

namespace pagoda::engine {

struct AdapterSpace;

// A part of the memory, given back when the last owner drops it.
struct Adapter {
  std::string name, folder;
  int32_t slot = -1;
  int64_t begin = 0, size = 0;  // elements
  std::string identity;         // equal for adapters with equal products; set before it is published
  std::shared_ptr<AdapterSpace> space;
  ~Adapter();
};

class Adapters {
 public:
  explicit Adapters(int64_t size_bytes);

  // Memory for an adapter, which requests cannot choose before publish(). Fails with the sizes if there is not enough.
  Result<std::shared_ptr<Adapter>> reserve(const std::string& name, const std::string& folder, int64_t num_elements);
  Status publish(std::shared_ptr<Adapter> adapter);  // fails if the name exists
  Status remove(const std::string& name);
  std::shared_ptr<const Adapter> find(const std::string& name) const;  // null if there is none
  std::vector<LoraInfo> list() const;                                  // by name

 private:
  mutable std::mutex mutex_;  // guards the adapters
  std::map<std::string, std::shared_ptr<const Adapter>> adapters_;
  std::shared_ptr<AdapterSpace> space_;
};

// Names appear in URLs, JSON and on the command line.
Status check_adapter_name(const std::string& name);

// The salt of prefixes computed with an adapter. A caller's own salts are at most 256 bytes, so none equals it.
std::string adapter_salt(const Adapter& adapter, const std::string& salt);

}  // namespace pagoda::engine
