// FileWriter: writes a file that appears under its name whole, or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace pagoda::io {

// The bytes go to PATH.tmp, which commit() renames. Whoever writes holds a lock on that file, so that of two writers
// one is refused, and what a killed one left behind is taken over by the next.
class FileWriter {
 public:
  // Makes the folder where it is missing. `mode`: who may read and write the file.
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path, unsigned mode = 0644);
  // Removes PATH.tmp unless somebody is writing it: the rest of a killed writer.
  static void remove_rest(const std::string& path);
  ~FileWriter();  // without commit() nothing stays
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  Status write(std::span<const std::byte> bytes);
  Status commit();  // once, at the end: the bytes are on the disk before the name is there

 private:
  FileWriter(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string temporary() const { return path_ + ".tmp"; }
  Status error(const char* what, int number) const;

  std::string path_;
  int descriptor_;
  bool is_committed_ = false;
};

}  // namespace pagoda::io
