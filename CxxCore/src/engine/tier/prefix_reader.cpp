// Each part is dropped before the next is read.
#include "engine/tier/prefix_reader.h"

#include <exception>

#include "engine/step_status.h"

namespace pagoda::engine {

void read_prefix(PrefixCopier& copier, PrefixRead& read) noexcept {
  try {
    for (const PrefixRead::Part& part : read.parts) {
      const auto content = part.store->read(part.next, read.target.reader.cache_salt, read.target.reader.tokens);
      read.status = content.is_ok() ? copier.fill(read.target, **content) : content.status;
      if (!read.status.is_ok()) return;
    }
  } catch (const std::exception&) {
    read.status = out_of_memory();
  }
}

}  // namespace pagoda::engine
