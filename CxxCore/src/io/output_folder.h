// OutputFolder: writes a folder atomically: it appears under its name complete, or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace pagoda::io {

// Files go to PATH.partial, which commit() renames. The writer holds a lock on it: a second concurrent writer fails,
// and the leftovers of a killed writer are deleted by the next one.
class OutputFolder {
 public:
  // Fails with invalid_argument if PATH exists and is not an empty folder, and with resource_exhausted if its disk has
  // less than `needed_bytes` free.
  static Result<std::unique_ptr<OutputFolder>> create(const std::string& path, uint64_t needed_bytes);
  ~OutputFolder();  // without commit() nothing is left on disk
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
