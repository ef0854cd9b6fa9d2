// CodeCache: the machine code of kernels in files of a folder, so that the next start compiles nothing.
// Whatever is wrong with a file or the folder, the code counts as not there: at worst it is compiled again.
// Thread rule: any thread; of two writers of one file the last wins, with the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash128.h"

namespace pagoda::device::gpu::cuda {

class CodeCache {
 public:
  CodeCache() = default;                                                          // keeps nothing
  explicit CodeCache(std::string folder, int64_t max_bytes = int64_t{256} << 20)  // of all files; kernels have 100 KiB
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // The user's own: below $XDG_CACHE_HOME, else ~/.cache. "" where neither is known.
  static std::string user_folder();

  bool is_open() const noexcept { return !folder_.empty(); }

  // The bytes put() stored under this key; empty when they are not there, to the byte, in a file of our own.
  std::vector<char> find(const Hash128Value& key) const;
  // Makes the folder where it is missing, and room by removing what was not used for longest and what older programs
  // kept. A file appears whole or not at all, for its owner alone.
  void put(const Hash128Value& key, const std::vector<char>& code) const;

 private:
  std::string path(const Hash128Value& key) const { return folder_ + "/" + key.text() + ".cubin"; }

  std::string folder_;
  int64_t max_bytes_ = 0;
};

}  // namespace pagoda::device::gpu::cuda
