// Maps whole files.
#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/concat.h"

namespace pagoda::io {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path, uint64_t size_bytes) {
  const auto system_error = [&](const char* what, int error) {
    return make_error(error == ENOENT ? StatusCode::not_found : StatusCode::io_error,
                      path + ": cannot be " + what + ": " + std::system_category().message(error));
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return system_error("opened", errno);
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) != size_bytes) {
    close(descriptor);
    return make_error(StatusCode::bad_file, concat(path, ": is not a file of ", size_bytes, " bytes"));
  }
  const size_t length = static_cast<size_t>(size_bytes);
  void* base = mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, 0);
  const int error = errno;
  close(descriptor);
  if (base == MAP_FAILED) return system_error("mapped", error);
#if defined(MADV_HUGEPAGE)
  madvise(base, length, MADV_HUGEPAGE);  // a hint, like the next: failure only costs speed
#endif
  madvise(base, length, MADV_WILLNEED);
  return std::shared_ptr<const MappedFile>(new MappedFile(base, length));
}

MappedFile::~MappedFile() { munmap(base_, size_bytes_); }

}  // namespace pagoda::io
