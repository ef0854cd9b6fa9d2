// MappedFile: the bytes of a file of our own as read-only memory, without reading them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace pagoda::io {

// Only for files that are replaced by renaming and never rewritten (see FileWriter): whoever cuts a mapped file short
// ends the process with SIGBUS. Model files are somebody else's, and read instead (see FolderFile).
class MappedFile {
 public:
  // not_found; bad_file when it does not have exactly `size_bytes`, which is not 0.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path, uint64_t size_bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {static_cast<const std::byte*>(base_), size_bytes_}; }

 private:
  MappedFile(void* base, size_t size_bytes) noexcept : base_(base), size_bytes_(size_bytes) {}

  void* base_;
  size_t size_bytes_;
};

}  // namespace pagoda::io
