// ImageFiles: the results of a vision tower in a folder, one file per image, so that images of earlier runs need no
// tower. No failure here fails a request: a bad file is removed, and a file that cannot be written is left out.
// Thread rule: one thread (the engine's). Other processes may use the folder too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pagoda/image.h"

namespace pagoda::engine {

class ImageFiles {
 public:
  // `fingerprint` identifies tower, numbers and device: files with another one are not read. Files take at most
  // `max_bytes` together; the least recently used go first.
  ImageFiles(std::string folder, int64_t max_bytes, std::string fingerprint)
      : folder_(std::move(folder)), max_bytes_(max_bytes), fingerprint_(std::move(fingerprint)) {}

  // The rows of an image, `count` numbers; empty if there is no valid file.
  std::vector<float> read(const ImageIdentity& identity, size_t count) const noexcept;
  void write(const ImageIdentity& identity, std::span<const float> rows) const noexcept;

 private:
  std::string path_of(const ImageIdentity& identity) const;

  std::string folder_;
  int64_t max_bytes_;
  std::string fingerprint_;
};

}  // namespace pagoda::engine
