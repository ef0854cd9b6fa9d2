// HostStore: prefixes in the host's memory, under a limit of bytes; those not used for longest go first. For devices
// with memory of their own; where the pool is in the host's memory, a larger pool serves better.
// Thread rule: one thread (the engine's) calls it; stats() may be called from any.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "engine/tier/prefix_store.h"
#include "pagoda/statistics.h"

namespace pagoda::engine {

class HostStore final : public PrefixStore {
 public:
  HostStore(PrefixLayout layout, int64_t max_bytes);

  Result<ContentPtr> read(const Next& next, const std::string& salt, std::span<const int32_t> tokens) override;
  void write(ContentPtr content) override;

  HostCacheStats stats() const;

 private:
  bool make_room(const io::PrefixFileHead& head) override;
  void evict_oldest() noexcept;
  void remove(Entries::iterator entry) noexcept;  // leaves its place in order_

  // By the last use at some time: an entry that was used since is moved when it comes first.
  std::map<uint64_t, Hash128Value> order_;
  HostCacheStats stats_;
};

}  // namespace pagoda::engine
