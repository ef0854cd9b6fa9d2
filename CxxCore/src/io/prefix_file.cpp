// Writes and validates prefix files.
#include "io/prefix_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/assign_or_return.h"
#include "base/checked.h"
#include "io/file_writer.h"

namespace pagoda::io {
namespace {

constexpr std::string_view kMagic = "pagoda prefix 1\n";  // the number is the format version
constexpr size_t kMagicBeforeVersion = kMagic.size() - 2;
constexpr uint64_t kMaxFingerprint = 4096, kMaxPosition = 1 << 28, kMaxBlockSize = 1024;

struct Numbers {  // after the magic
  uint64_t size_bytes, fingerprint_bytes, position, parent_position, block_size, block_bytes, state_bytes;
  Hash128Value salt, key, parent_key, blocks_checksum, state_checksum;
  Hash128Value head_checksum;  // covers everything above, the fingerprint and the tokens
};

constexpr uint64_t kHeadBytes = kMagic.size() + sizeof(Numbers);

Hash128Value hash_of(std::span<const std::byte> bytes) noexcept {
  Hash128 hash;
  hash.add(bytes);
  return hash.value();
}

Hash128Value head_checksum(const Numbers& numbers, std::string_view fingerprint, std::span<const int32_t> tokens) {
  Hash128 hash;
  hash.add(kMagic);
  hash.add(std::as_bytes(std::span(&numbers, 1)).first(offsetof(Numbers, head_checksum)));
  hash.add(fingerprint);
  hash.add(std::as_bytes(tokens));
  return hash.value();
}

Numbers numbers_of(const PrefixFileHead& head) noexcept {
  return {.size_bytes = head.file_bytes(),
          .fingerprint_bytes = head.fingerprint.size(),
          .position = static_cast<uint64_t>(head.position),
          .parent_position = static_cast<uint64_t>(head.parent_position),
          .block_size = static_cast<uint64_t>(head.block_size),
          .block_bytes = head.block_bytes,
          .state_bytes = head.state_bytes,
          .salt = head.salt,
          .key = head.key,
          .parent_key = head.parent_key,
          .blocks_checksum = {},
          .state_checksum = {},
          .head_checksum = {}};
}

}  // namespace

uint64_t PrefixFileHead::file_bytes() const noexcept {
  const uint64_t blocks_bytes = static_cast<uint64_t>(num_blocks()) * block_bytes;
  return kHeadBytes + fingerprint.size() + static_cast<uint64_t>(position) * sizeof(int32_t) + blocks_bytes +
         state_bytes;
}

Status write_prefix_file(const std::string& path, const PrefixFileHead& head, std::span<const int32_t> tokens,
                         std::span<const std::byte> blocks, std::span<const std::byte> state) {
  Numbers numbers = numbers_of(head);
  numbers.blocks_checksum = hash_of(blocks);
  numbers.state_checksum = hash_of(state);
  numbers.head_checksum = head_checksum(numbers, head.fingerprint, tokens);
  PAGODA_ASSIGN_OR_RETURN(auto writer, FileWriter::create(path, /*mode=*/0600));
  const std::span<const char> magic(kMagic), fingerprint(head.fingerprint);
  for (std::span<const std::byte> part : {std::as_bytes(magic), std::as_bytes(std::span(&numbers, 1)),
                                          std::as_bytes(fingerprint), std::as_bytes(tokens), blocks, state})
    PAGODA_RETURN_IF_ERROR(writer->write(part));
  return writer->commit();
}

Result<std::unique_ptr<PrefixFile>> PrefixFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
  if (descriptor < 0)
    return make_error(errno == ENOENT ? StatusCode::not_found : StatusCode::io_error,
                      path + ": cannot be opened: " + std::system_category().message(errno));
  std::unique_ptr<PrefixFile> file(new PrefixFile(path, descriptor));
  PAGODA_RETURN_IF_ERROR(file->read_head());
  return file;
}

PrefixFile::~PrefixFile() { close(descriptor_); }

Status PrefixFile::bad(const char* why) const { return make_error(StatusCode::bad_file, path_ + ": " + why); }

Status PrefixFile::read_at(uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t count = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return make_error(StatusCode::io_error, path_ + ": " + std::system_category().message(errno));
    if (count == 0) return bad("ends too early");
    offset += static_cast<uint64_t>(count);
    into = into.subspan(static_cast<size_t>(count));
  }
  return ok_status();
}

Status PrefixFile::read_head() {
  struct stat info;
  if (fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return bad("is no file");
  std::byte magic[kMagic.size()];
  Numbers n;
  PAGODA_RETURN_IF_ERROR(read_at(0, magic));
  PAGODA_RETURN_IF_ERROR(read_at(kMagic.size(), std::as_writable_bytes(std::span(&n, 1))));
  if (std::memcmp(magic, kMagic.data(), kMagicBeforeVersion) != 0) return bad("does not begin as expected");
  if (std::memcmp(magic, kMagic.data(), kMagic.size()) != 0)
    return make_error(StatusCode::unsupported, path_ + ": has another version of the format than this program reads");
  if (n.fingerprint_bytes > kMaxFingerprint || n.position == 0 || n.position > kMaxPosition || n.block_size == 0 ||
      n.block_size > kMaxBlockSize || n.parent_position >= n.position)
    return bad("has a number out of range");
  head_.fingerprint.resize(n.fingerprint_bytes);
  PAGODA_RETURN_IF_ERROR(read_at(kHeadBytes, std::as_writable_bytes(std::span(head_.fingerprint))));
  head_.position = static_cast<int32_t>(n.position);
  head_.parent_position = static_cast<int32_t>(n.parent_position);
  head_.block_size = static_cast<int32_t>(n.block_size);
  head_.block_bytes = n.block_bytes;
  head_.state_bytes = n.state_bytes;
  head_.salt = n.salt;
  head_.key = n.key;
  head_.parent_key = n.parent_key;
  head_checksum_ = n.head_checksum;
  blocks_checksum_ = n.blocks_checksum;
  state_checksum_ = n.state_checksum;
  uint64_t expected = 0;
  tokens_offset_ = kHeadBytes + n.fingerprint_bytes;
  blocks_offset_ = tokens_offset_ + n.position * sizeof(int32_t);
  size_bytes_ = static_cast<uint64_t>(info.st_size);
  if (!checked_multiply(static_cast<uint64_t>(head_.num_blocks()), n.block_bytes, expected) ||
      !checked_add(expected, blocks_offset_, expected) || !checked_add(expected, n.state_bytes, expected) ||
      expected != n.size_bytes || n.size_bytes != size_bytes_)
    return bad("does not have the length it should have");
  return ok_status();
}

Result<std::vector<int32_t>> PrefixFile::read_tokens() const {
  std::vector<int32_t> tokens(static_cast<size_t>(head_.position));
  PAGODA_RETURN_IF_ERROR(read_at(tokens_offset_, std::as_writable_bytes(std::span(tokens))));
  Numbers numbers = numbers_of(head_);
  numbers.blocks_checksum = blocks_checksum_;
  numbers.state_checksum = state_checksum_;
  if (head_checksum(numbers, head_.fingerprint, tokens) != head_checksum_) return bad("has a damaged head");
  return tokens;
}

Result<std::vector<std::byte>> PrefixFile::read_checked(uint64_t offset, uint64_t size,
                                                        const Hash128Value& checksum) const {
  std::vector<std::byte> bytes(size);
  PAGODA_RETURN_IF_ERROR(read_at(offset, bytes));
  if (hash_of(bytes) != checksum) return bad("is damaged");
  return bytes;
}

Result<std::vector<std::byte>> PrefixFile::read_blocks() const {
  return read_checked(blocks_offset_, static_cast<uint64_t>(head_.num_blocks()) * head_.block_bytes, blocks_checksum_);
}

Result<std::vector<std::byte>> PrefixFile::read_state() const {
  return read_checked(size_bytes_ - head_.state_bytes, head_.state_bytes, state_checksum_);
}

}  // namespace pagoda::io
