// Writes to a locked temporary file, then renames it.
#include "io/file_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace pagoda::io {

// The previous lock holder may have renamed or deleted the file between our open and our lock; our descriptor then no
// longer refers to the temporary file, which must not be touched.
static bool has_name(int descriptor, const std::string& path) noexcept {
  struct stat held, named;
  return fstat(descriptor, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path, unsigned mode) {
  std::error_code ignored;  // a folder that cannot be created shows up when the file is opened
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string temporary = path + ".tmp";
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, static_cast<mode_t>(mode));
  const int error = errno;
  std::unique_ptr<FileWriter> writer(new FileWriter(path, -1));
  if (descriptor < 0) return writer->error("created", error);
  struct stat info;
  const bool is_file = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  const bool is_locked = is_file && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool is_busy = is_file && (is_locked ? !has_name(descriptor, temporary) : errno == EWOULDBLOCK);
  if (!is_locked || is_busy) {
    close(descriptor);
    return is_busy ? make_error(StatusCode::resource_exhausted, path + ": is being written by another process")
                   : make_error(StatusCode::io_error, path + ": cannot be locked");
  }
  writer->descriptor_ = descriptor;
  if (ftruncate(descriptor, 0) != 0) return writer->error("emptied", errno);
  return writer;
}

void FileWriter::remove_rest(const std::string& path) {
  const std::string temporary = path + ".tmp";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && has_name(descriptor, temporary)) unlink(temporary.c_str());
  close(descriptor);
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  if (!is_committed_) unlink(temporary().c_str());
  close(descriptor_);  // also unlocks
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  constexpr size_t kMaxBytesPerCall = size_t{1} << 30;  // macOS rejects more than INT_MAX
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMaxBytesPerCall));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error("written", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return ok_status();
}

Status FileWriter::commit(bool waits_for_disk) {
  if (waits_for_disk && fsync(descriptor_) != 0) return error("written to the disk", errno);
  if (std::rename(temporary().c_str(), path_.c_str()) != 0) return error("renamed", errno);
  is_committed_ = true;
  return ok_status();
}

Status FileWriter::error(const char* what, int number) const {
  return make_error(StatusCode::io_error,
                    temporary() + ": cannot be " + what + ": " + std::system_category().message(number));
}

}  // namespace pagoda::io
