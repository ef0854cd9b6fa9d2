// read_prefix(): reads a prefix from its stores and copies it into reserved blocks and slots. One at a time: files are
// read as fast as the disk allows, and only one prefix is in memory besides its copy.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_store.h"

namespace pagoda::engine {

// The stored prefixes that lead to a state, first to last, and the memory that they are copied to.
struct PrefixRead {
  struct Part {
    std::shared_ptr<PrefixStore> store;
    PrefixStore::Next next;
  };
  uint64_t sequence_id = 0;  // that waits for it; it may have ended since
  std::vector<Part> parts;
  PrefixCopier::Target target;
  Status status;  // of the first part that could not be read or copied
};

void read_prefix(PrefixCopier& copier, PrefixRead& read) noexcept;  // any thread, beside the steps

}  // namespace pagoda::engine
