// PrefixFile: the KV blocks and recurrent state of a prompt prefix in a file, with everything needed to decide whether
// they may be used. Layout: head (sizes, owner, checksums), fingerprint, tokens, blocks, state. Numbers are in native
// byte order, like the blocks. Every byte is untrusted until checked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash128.h"
#include "base/result.h"

namespace pagoda::io {

// Header of a file. It holds the blocks from the one that contains parent_position to the end, and the state at the
// end; earlier blocks are in the parent's file.
struct PrefixFileHead {
  std::string fingerprint;  // everything the data depends on besides the tokens
  Hash128Value salt;        // hash of the tenant's salt
  Hash128Value key, parent_key;
  int32_t position = 0, parent_position = 0;  // tokens up to the end of this file, and of its parent
  int32_t block_size = 0;
  uint64_t block_bytes = 0, state_bytes = 0;

  int64_t first_block() const noexcept { return parent_position / block_size; }
  int64_t num_blocks() const noexcept { return (position + block_size - 1) / block_size - first_block(); }
  uint64_t file_bytes() const noexcept;
};

// Written to a temporary file and renamed; readable by the owner only. `blocks` and `state` have the sizes given in the
// head.
Status write_prefix_file(const std::string& path, const PrefixFileHead& head, std::span<const int32_t> tokens,
                         std::span<const std::byte> blocks, std::span<const std::byte> state);

class PrefixFile {
 public:
  // Fails with bad_file if the head is incomplete or the file size differs from what it says.
  static Result<std::unique_ptr<PrefixFile>> open(const std::string& path);
  ~PrefixFile();
  PrefixFile(const PrefixFile&) = delete;
  PrefixFile& operator=(const PrefixFile&) = delete;

  const PrefixFileHead& head() const noexcept { return head_; }
  uint64_t size_bytes() const noexcept { return size_bytes_; }

  // Fail with bad_file if the data differs from what was written.
  Result<std::vector<int32_t>> read_tokens() const;  // also verifies everything else that the head's checksum covers
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
