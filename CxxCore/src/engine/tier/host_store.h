// HostStore: prefixes in host memory, with a size limit; the least recently used are evicted first. For devices
// with dedicated memory; if the pool is in host memory, a larger pool is the better choice.
// Thread rule: as PrefixStore; read() and stats() may be called from any.
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
  void remove(Entries::iterator entry) noexcept;  // leaves its entry in order_

  // Keys by time of use, not always the last one: an entry used since then is moved when it reaches the front.
  std::map<uint64_t, Hash128Value> order_;
  HostCacheStats stats_;
};

}  // namespace pagoda::engine
