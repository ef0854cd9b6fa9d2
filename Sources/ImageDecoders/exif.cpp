// Finds tag 0x0112 in the first directory of a TIFF structure.
#include "exif.h"

#include <cstddef>
#include <cstring>

namespace pagoda::images {
namespace {

constexpr uint32_t kOrientationTag = 0x0112, kShortType = 3;
constexpr size_t kEntryBytes = 12;

struct TiffReader {
  std::span<const uint8_t> bytes;
  bool is_big_endian = false;

  bool has(size_t offset, size_t count) const noexcept {
    return offset <= bytes.size() && count <= bytes.size() - offset;
  }
  uint32_t number(size_t offset, size_t num_bytes) const noexcept {
    uint32_t value = 0;
    for (size_t i = 0; i < num_bytes; ++i) value = value << 8 | bytes[offset + (is_big_endian ? i : num_bytes - 1 - i)];
    return value;
  }
};

}  // namespace

int32_t exif_orientation(std::span<const uint8_t> block) noexcept {
  if (block.size() >= 6 && std::memcmp(block.data(), "Exif\0\0", 6) == 0) block = block.subspan(6);
  TiffReader tiff{.bytes = block};
  if (!tiff.has(0, 8)) return 1;
  tiff.is_big_endian = std::memcmp(block.data(), "MM\0*", 4) == 0;
  if (!tiff.is_big_endian && std::memcmp(block.data(), "II*\0", 4) != 0) return 1;
  const size_t directory = tiff.number(4, 4);
  if (!tiff.has(directory, 2)) return 1;
  const size_t num_entries = tiff.number(directory, 2);
  for (size_t i = 0; i < num_entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!tiff.has(entry, kEntryBytes)) return 1;
    if (tiff.number(entry, 2) != kOrientationTag) continue;
    const uint32_t value = tiff.number(entry + 8, 2);
    return tiff.number(entry + 2, 2) == kShortType && value >= 1 && value <= 8 ? static_cast<int32_t>(value) : 1;
  }
  return 1;
}

}  // namespace pagoda::images
