// Files of machine code: a header (type, key, size and hash of the code), then the code.
#include "device/gpu/cuda/code_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/cache_folder.h"
#include "base/concat.h"

namespace pagoda::device::gpu::cuda {
namespace {

constexpr char kMagic[16] = "pagoda cubin 1\n";   // the number is the version of the file format
constexpr int64_t kMaxBytes = int64_t{64} << 20;  // per file; kernels have about 100 KiB

struct Head {
  char magic[16];
  Hash128Value key, hash;
  uint64_t size_bytes;
};

Hash128Value hash_of(std::span<const char> code) {
  Hash128 hash;
  hash.add(std::as_bytes(code));
  return hash.value();
}

Head head_of(const Hash128Value& key, std::span<const char> code) {
  Head head{{}, key, hash_of(code), code.size()};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  return head;
}

class File {  // closed at the end
 public:
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  ~File() {
    if (is_open()) close(descriptor_);
  }
  File(const File&) = delete;
  bool is_open() const noexcept { return descriptor_ >= 0; }

  // Bytes of a regular file that we own and that only we may write; -1 for any other.
  int64_t own_size() const noexcept {
    struct stat info;
    if (fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return -1;
    const bool is_own = info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return is_own ? static_cast<int64_t>(info.st_size) : -1;
  }
  bool read(std::span<char> to) const noexcept {
    while (!to.empty()) {
      const ssize_t count = ::read(descriptor_, to.data(), to.size());
      if (count <= 0) return false;
      to = to.subspan(static_cast<size_t>(count));
    }
    return true;
  }
  bool write(std::span<const char> from) const noexcept {
    while (!from.empty()) {
      const ssize_t count = ::write(descriptor_, from.data(), from.size());
      if (count <= 0) return false;
      from = from.subspan(static_cast<size_t>(count));
    }
    return true;
  }
  bool sync() const noexcept { return fsync(descriptor_) == 0; }

 private:
  int descriptor_;
};

}  // namespace

std::string CodeCache::user_folder() { return user_cache_folder("cuda"); }

std::vector<char> CodeCache::find(const Hash128Value& key) const {
  if (!is_open()) return {};
  const File file(open(path(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  const int64_t size = file.is_open() ? file.own_size() : -1;
  if (size <= static_cast<int64_t>(sizeof(Head)) || size > kMaxBytes) return {};
  Head head;
  std::vector<char> code(static_cast<size_t>(size) - sizeof head);
  if (!file.read({reinterpret_cast<char*>(&head), sizeof head}) || !file.read(code)) return {};
  const Head wanted = head_of(key, code);
  if (std::memcmp(&head, &wanted, sizeof head) != 0) return {};
  mark_used(path(key));
  return code;
}

void CodeCache::put(const Hash128Value& key, const std::vector<char>& code) const {
  if (!is_open() || code.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  const auto size = static_cast<int64_t>(sizeof(Head) + code.size());
  trim_cache_folder(folder_, ".cubin", {kMagic, sizeof kMagic}, max_bytes_ - size, path(key));
  static std::atomic<uint64_t> count = 0;
  const std::string to = path(key), unfinished = concat(to, ".", getpid(), ".", count++);
  bool is_whole = false;
  {
    const File file(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open()) return;
    const Head head = head_of(key, code);
    is_whole = file.write({reinterpret_cast<const char*>(&head), sizeof head}) && file.write(code) && file.sync();
  }
  if (!is_whole || rename(unfinished.c_str(), to.c_str()) != 0) unlink(unfinished.c_str());
}

}  // namespace pagoda::device::gpu::cuda
