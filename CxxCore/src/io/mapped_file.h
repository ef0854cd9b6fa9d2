// MappedFile: one of Pagoda's own files as read-only mapped memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace pagoda::io {

// Only for files that are replaced by renaming and never rewritten (see FileWriter): truncating a mapped file would
// kill the process with SIGBUS. Model files belong to the user and are read instead (see FolderFile).
class MappedFile {
 public:
  // Fails with not_found, or with bad_file if its size is not exactly `size_bytes` (non-zero).
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
