// OutputFolder: a folder that appears under its name whole, or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace pagoda::io {

// Files go to PATH.partial, which commit() renames. Whoever writes holds a lock on it, so that of two writers one is
// refused, and what a killed one left behind is thrown away by the next.
class OutputFolder {
 public:
  // invalid_argument when PATH is there already and not an empty folder; resource_exhausted when its disk has fewer
  // than `needed_bytes` free.
  static Result<std::unique_ptr<OutputFolder>> create(const std::string& path, uint64_t needed_bytes);
  ~OutputFolder();  // without commit() nothing stays
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  std::string file(const std::string& name) const { return partial() + "/" + name; }
  Status commit();

 private:
  OutputFolder(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string partial() const { return path_ + ".partial"; }

  std::string path_;
  int descriptor_;
  bool is_committed_ = false;
};

}  // namespace pagoda::io
