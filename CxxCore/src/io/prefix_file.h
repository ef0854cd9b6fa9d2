// PrefixFile: KV blocks and a recurrent state of a prompt in a file, with everything that says whether they may be
// used. Order in the file: head (sizes, what it belongs to, checksums), fingerprint, tokens, blocks, state. Numbers are
// in the machine's own byte order, like the blocks. Every byte is hostile until checked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash128.h"
#include "base/result.h"

namespace pagoda::io {

// What a file says of itself. It holds the blocks from the one that parent_position lies in to the end, and the state
// at the end; the blocks before are those of the parent.
struct PrefixFileHead {
  std::string fingerprint;  // whatever the numbers depend on besides the tokens
  Hash128Value salt;        // of the tenant
  Hash128Value key, parent_key;
  int32_t position = 0, parent_position = 0;  // tokens before the end, and before the parent's
  int32_t block_size = 0;
  uint64_t block_bytes = 0, state_bytes = 0;

  int64_t first_block() const noexcept { return parent_position / block_size; }
  int64_t num_blocks() const noexcept { return (position + block_size - 1) / block_size - first_block(); }
  uint64_t file_bytes() const noexcept;
};

// Written below a temporary name and renamed; readable by the owner only. `blocks` and `state` have the sizes that the
// head says.
Status write_prefix_file(const std::string& path, const PrefixFileHead& head, std::span<const int32_t> tokens,
                         std::span<const std::byte> blocks, std::span<const std::byte> state);

class PrefixFile {
 public:
  // bad_file when the head is not whole, or the file not as long as it says.
  static Result<std::unique_ptr<PrefixFile>> open(const std::string& path);
  ~PrefixFile();
  PrefixFile(const PrefixFile&) = delete;
  PrefixFile& operator=(const PrefixFile&) = delete;

  const PrefixFileHead& head() const noexcept { return head_; }
  uint64_t size_bytes() const noexcept { return size_bytes_; }

  // bad_file when they are not what was written.
  Result<std::vector<int32_t>> read_tokens() const;  // with the rest of what the head's checksum covers
  Result<std::vector<std::byte>> read_blocks() const;
  Result<std::vector<std::byte>> read_state() const;

 private:
  PrefixFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status read_head();
  Status read_at(uint64_t offset, std::span<std::byte> into) const;
  Result<std::vector<std::byte>> read_checked(uint64_t offset, uint64_t size, const Hash128Value& checksum) const;
  Status bad(const char* why) const;

  std::string path_;
  int descriptor_;
  uint64_t size_bytes_ = 0, tokens_offset_ = 0, blocks_offset_ = 0;
  PrefixFileHead head_;
  Hash128Value head_checksum_, blocks_checksum_, state_checksum_;
};

}  // namespace pagoda::io
