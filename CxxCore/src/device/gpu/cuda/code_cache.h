// CodeCache: the machine code of kernels in files of a folder, so that the next start compiles nothing.
// If anything is wrong with a file or the folder, the code counts as missing: at worst it is compiled again.
// Thread rule: any thread; of two writers of one file the last wins, with the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash128.h"

namespace pagoda::device::gpu::cuda {

class CodeCache {
 public:
  CodeCache() = default;                                                          // caches nothing
  explicit CodeCache(std::string folder, int64_t max_bytes = int64_t{256} << 20)  // in total; kernels have 100 KiB
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // The user's own: under $XDG_CACHE_HOME, else ~/.cache. "" if neither is set.
  static std::string user_folder();

  bool is_open() const noexcept { return !folder_.empty(); }

  // The bytes that put() stored under this key; empty unless they are present, byte for byte, in a file of our own.
  std::vector<char> find(const Hash128Value& key) const;
  // Creates the folder if necessary, and frees space by removing the least recently used files and those of older
  // versions of the program. A file appears only when complete, readable by its owner alone.
  void put(const Hash128Value& key, const std::vector<char>& code) const;

 private:
  std::string path(const Hash128Value& key) const { return folder_ + "/" + key.text() + ".cubin"; }

  std::string folder_;
  int64_t max_bytes_ = 0;
};

}  // namespace pagoda::device::gpu::cuda
