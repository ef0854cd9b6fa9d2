// A file: kMagic, checksum of the rest, size of the fingerprint and number of floats (8 bytes each), fingerprint,
// floats.
#include "engine/disk/image_files.h"

#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>

#include "base/cache_folder.h"
#include "base/checksum.h"
#include "base/hash128.h"
#include "io/file_writer.h"

namespace pagoda::engine {
namespace {

constexpr std::string_view kMagic = "PGDIMG01", kSuffix = ".image";
constexpr size_t kHeadBytes = 4 * sizeof(uint64_t);  // with the magic
constexpr unsigned kOnlyOwner = 0600;                // rows tell what an image shows

void put(std::string& text, size_t at, uint64_t value) { std::memcpy(text.data() + at, &value, sizeof value); }

std::string contents(const std::string& fingerprint, std::span<const float> rows) {
  std::string text(kHeadBytes, '\0');
  std::memcpy(text.data(), kMagic.data(), kMagic.size());
  put(text, 16, fingerprint.size());
  put(text, 24, rows.size());
  text += fingerprint;
  text.append(reinterpret_cast<const char*>(rows.data()), rows.size_bytes());
  put(text, 8, checksum(std::as_bytes(std::span(text).subspan(16))));
  return text;
}

}  // namespace

std::string ImageFiles::path_of(const ImageIdentity& identity) const {
  const uint64_t model = checksum(std::as_bytes(std::span(fingerprint_)));
  return folder_ + "/" + hex(identity.high) + hex(identity.low) + "-" + hex(model) + std::string(kSuffix);
}

// The whole expected file but its floats is known, so that nothing in it is trusted.
std::vector<float> ImageFiles::read(const ImageIdentity& identity, size_t count) const noexcept {
  try {
    const std::string path = path_of(identity);
    const size_t first = kHeadBytes + fingerprint_.size(), wanted = first + count * sizeof(float);
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) return {};
    std::string text(size == wanted ? wanted : 0, '\0');
    std::ifstream file(path, std::ios::binary);
    std::vector<float> rows(text.empty() ? 0 : count);
    const bool is_read = size == wanted && file.read(text.data(), static_cast<std::streamsize>(wanted)).good();
    if (is_read) std::memcpy(rows.data(), text.data() + first, count * sizeof(float));
    if (!is_read || text != contents(fingerprint_, rows)) {
      std::filesystem::remove(path, error);
      return {};
    }
    mark_used(path);
    return rows;
  } catch (const std::exception&) {
    return {};
  }
}

void ImageFiles::write(const ImageIdentity& identity, std::span<const float> rows) const noexcept {
  try {
    const std::string text = contents(fingerprint_, rows), path = path_of(identity);
    const auto size = static_cast<int64_t>(text.size());
    if (size > max_bytes_) return;
    trim_cache_folder(folder_, kSuffix, kMagic, max_bytes_ - size, path);
    auto writer = io::FileWriter::create(path, kOnlyOwner);
    if (!writer.is_ok() || !(*writer)->write(std::as_bytes(std::span(text))).is_ok()) return;
    static_cast<void>((*writer)->commit());  // a file that is not there is computed again
  } catch (const std::exception&) {          // no memory for the copy: the file is left out
  }
}

}  // namespace pagoda::engine
