// PrefixStore: prefixes kept outside the device's caches, in host memory or on disk, by the hash of all their
// tokens: an index of them, the choice of the next one to read, and the contents of a new one.
// Thread rule: one thread (the engine's) calls find_next(), a second plan() and write(), a third read(); a derived
// class documents what may be called from more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash128.h"
#include "base/result.h"
#include "io/prefix_file.h"

namespace pagoda::engine {

struct PrefixLayout {
  std::string fingerprint;  // prefixes with a different one are never read
  int32_t block_size = 16;
  uint64_t block_bytes = 0, state_bytes = 0;
};

class PrefixStore {
 public:
  // The blocks after those of its parent, and the state at its end.
  struct Content {
    io::PrefixFileHead head;
    std::vector<int32_t> tokens;  // all of them, including those of the parents
    std::vector<std::byte> blocks, state;
  };
  using ContentPtr = std::shared_ptr<const Content>;

  virtual ~PrefixStore() = default;
  PrefixStore(const PrefixStore&) = delete;
  PrefixStore& operator=(const PrefixStore&) = delete;

  const PrefixLayout& layout() const noexcept { return layout_; }

  // The prefix to read next in order to resume after more than `num_cached` tokens, given that the blocks of the first
  // `num_blocks` are cached. `is_last`: its state is needed; otherwise its blocks lead to such a prefix.
  struct Next {
    Hash128Value key;
    int32_t position = 0;
    int32_t last_position = 0;  // position of the needed state
    bool is_last = false;
  };
  std::optional<Next> find_next(const std::string& salt, std::span<const int32_t> tokens, int32_t num_cached,
                                int64_t num_blocks);

  // Verifies everything: the tokens must be the first ones of `tokens`. An invalid prefix is removed. The state may be
  // missing if it is not needed.
  virtual Result<ContentPtr> read(const Next& next, const std::string& salt, std::span<const int32_t> tokens) = 0;

  // The head of a new prefix for `tokens`; empty if it exists already or should not be kept.
  std::optional<io::PrefixFileHead> plan(const std::string& salt, std::span<const int32_t> tokens);
  virtual void write(ContentPtr content) = 0;  // with a head from the last plan()

 protected:
  struct Entry {
    Hash128Value parent_key;
    int32_t position = 0, parent_position = 0;
    int64_t size_bytes = 0;  // 0: not written yet
    uint64_t last_use = 0;
    std::filesystem::file_time_type time{};  // of the file when last_use was set; processes share it
    bool is_ours = false;                    // fingerprint and sizes match the layout
    ContentPtr content;                      // for a store in memory
  };
  using Entries = std::map<Hash128Value, Entry>;

  explicit PrefixStore(PrefixLayout layout) : layout_(std::move(layout)) {}

  // Readable, or queued for writing.
  static bool is_usable(const Entry& entry, int32_t position) noexcept {
    return entry.is_ours && entry.position == position;
  }
  bool is_ours(const io::PrefixFileHead& head) const noexcept;
  Entry read_entry(const io::PrefixFileHead& head) const noexcept;
  Status check(const io::PrefixFileHead& head, std::span<const int32_t> own_tokens, const Next& next,
               const std::string& salt, std::span<const int32_t> tokens) const;

  virtual void look_again() {}  // for prefixes that other processes have written
  // This and everything below require mutex_.
  virtual bool may_write() const noexcept { return true; }
  virtual bool make_room(const io::PrefixFileHead& head) = 0;  // for a new prefix; false if it should not be written
  Entries::iterator parent_of(const Entry& entry) noexcept;    // entries_.end() if there is none
  void use(Entries::iterator entry) noexcept;

  const PrefixLayout layout_;
  mutable std::mutex mutex_;  // guards the members below
  Entries entries_;
  uint64_t last_use_ = 0;

 private:
  std::vector<Entries::iterator> find_whole(const std::string& salt, std::span<const int32_t> tokens,
                                            int64_t num_blocks);
};

// The tenant's key in the head of a prefix.
Hash128Value hash_of_salt(const std::string& salt);

// Calls body(position, key) with the hash after each token.
template <class Body>
void for_each_key(const std::string& fingerprint, const std::string& salt, std::span<const int32_t> tokens,
                  Body&& body) {
  Hash128 hash;
  hash.add(std::string_view(fingerprint));
  hash.add(std::string_view(salt));
  for (size_t i = 0; i < tokens.size(); ++i) {
    hash.add(static_cast<uint64_t>(tokens[i]));
    body(static_cast<int32_t>(i) + 1, hash.value());
  }
}

}  // namespace pagoda::engine
