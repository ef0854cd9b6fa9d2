// Hashes a file's name, size, modification time and a sample of its content.
#include "io/file_identity.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace pagoda::io {

Status add_identity(const File& file, Fnv1a& hash) {
  constexpr uint64_t kMostPages = 256, kPage = 4096;
  const std::string_view name = file.name();
  const uint64_t size = file.size_bytes();
  hash.add(name.substr(name.rfind('/') + 1));  // base name only: a folder may be moved
  hash.add(size);
  hash.add(static_cast<uint64_t>(file.modified_ns()));
  const uint64_t step = std::max(kPage, size / kMostPages);
  std::byte page[kPage];
  for (uint64_t begin = 0; begin < size; begin += step) {
    const auto chunk = std::span(page).first(static_cast<size_t>(std::min(kPage, size - begin)));
    PAGODA_RETURN_IF_ERROR(file.read(begin, chunk));
    hash.add(std::span<const std::byte>(chunk));
  }
  return ok_status();
}

Status add_content(const File& file, Hash128& hash) {
  constexpr uint64_t kChunk = 1 << 20;
  const std::string_view name = file.name();
  hash.add(name.substr(name.rfind('/') + 1));
  std::vector<std::byte> chunk(kChunk);
  for (uint64_t begin = 0; begin < file.size_bytes(); begin += kChunk) {
    const auto part = std::span(chunk).first(static_cast<size_t>(std::min(kChunk, file.size_bytes() - begin)));
    PAGODA_RETURN_IF_ERROR(file.read(begin, part));
    hash.add(std::span<const std::byte>(part));
  }
  return ok_status();
}

}  // namespace pagoda::io
