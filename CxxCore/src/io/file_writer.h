// FileWriter: writes a file atomically: it appears under its name complete, or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace pagoda::io {

// Writes to PATH.tmp, which commit() renames. The writer holds a lock on that file: a second concurrent writer fails,
// and the leftovers of a killed writer are taken over by the next one.
class FileWriter {
 public:
  // Creates missing folders. `mode`: file permissions. resource_exhausted while another writer holds the lock.
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path, unsigned mode = 0644);
  // Deletes PATH.tmp, left by a killed writer, unless it is being written.
  static void remove_rest(const std::string& path);
  ~FileWriter();  // without commit() nothing is left on disk
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  Status write(std::span<const std::byte> bytes);
  // Call once, at the end: the data is on the disk before the renaming. Without waiting for it a crash of the machine
  // may leave a file with other bytes, which its readers must notice.
  Status commit(bool waits_for_disk = true);

 private:
  FileWriter(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string temporary() const { return path_ + ".tmp"; }
  Status error(const char* what, int number) const;

  std::string path_;
  int descriptor_;
  bool is_committed_ = false;
};

}  // namespace pagoda::io
