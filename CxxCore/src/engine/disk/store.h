// DiskStore: prefix files in a folder, under a limit of bytes: which there are, which to read next, and a thread that
// writes new ones. Other processes may use the folder too: the limit is that of all its files, files come and go, and a
// file that another process is writing is left to it. Nothing that goes wrong here fails a request: a bad file is
// removed, and after a failed write (a full disk) there is none for a while.
// Thread rule: one thread (the engine's) calls it; find_chain(), adopt() and stats() may be called from any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/hash128.h"
#include "base/result.h"
#include "engine/tier/prefix_store.h"
#include "io/prefix_file.h"
#include "pagoda/prefix_match.h"
#include "pagoda/statistics.h"

namespace pagoda::engine {

struct DiskStoreConfig {
  std::string folder;
  int64_t max_bytes = 0;    // of all prefix files in the folder, of whatever model
  std::string fingerprint;  // files with another one are never read
  int32_t block_size = 16;
  uint64_t block_bytes = 0, state_bytes = 0;
  double retry_seconds = 5;  // after a failed write
};

class DiskStore final : public PrefixStore {
 public:
  explicit DiskStore(DiskStoreConfig config);
  ~DiskStore() override;  // writes what is queued

  Result<ContentPtr> read(const Next& next, const std::string& salt, std::span<const int32_t> tokens) override;
  void write(ContentPtr content) override;
  void flush();  // waits until the queue is empty

  // The readable files that together lead furthest into `tokens`, first to last.
  std::vector<PrefixFileInfo> find_chain(const std::string& salt, std::span<const int32_t> tokens) const;
  // Takes over the file at `path`, which another process or machine wrote, as `name`. Only its head is checked: read()
  // checks the rest. On failure the file is removed.
  Status adopt(const std::string& path, const std::string& name);

  DiskStats stats() const;

 private:
  struct Listed {  // a file of the folder
    Hash128Value key;
    int64_t size_bytes = 0;
    std::filesystem::file_time_type time{};
    std::optional<Entry> entry;  // where there was none
  };
  static bool is_readable(const Entry& entry, int32_t position) noexcept {
    return entry.is_ours && entry.size_bytes > 0 && entry.position == position;
  }
  static int64_t queued_bytes(const Content& content) noexcept {
    return static_cast<int64_t>(content.blocks.size() + content.state.size());
  }
  ContentPtr find_queued(const Next& next, const std::string& salt, std::span<const int32_t> tokens) const;
  std::string path_of(const Hash128Value& key) const;
  Result<ContentPtr> read_file(const Next& next, const std::string& salt, std::span<const int32_t> tokens) const;
  bool open_folder();
  void remove_rests();  // of killed writers
  std::vector<Listed> list_folder();
  Status check_received(const std::string& path, const std::string& name) const;
  bool open_new(Listed& file);             // false when there is no good file
  void refresh();                          // brings entries_ up to date with the folder; with folder_mutex_
  void look_again() override;              // refresh() if the folder has changed; the engine's thread only
  void merge(std::vector<Listed> listed);  // with mutex_, like all that follows
  void count_files() noexcept;
  void run_writer() noexcept;
  void write_file(const Content& content);
  bool may_write() const noexcept override;
  bool make_room(const io::PrefixFileHead& head) override;  // in the queue; in the folder, the writer makes it
  void make_room(int64_t size_bytes);
  void remove(const Hash128Value& key) noexcept;  // the file too
  void forget(const Hash128Value& key) noexcept;  // the entry alone
  void pause(const std::string& reason);

  DiskStoreConfig config_;
  // Held while the folder is listed and entries_ brought up to date, and while a file is written: a list that was made
  // before would take its entry for one that another process removed. Taken before mutex_.
  std::mutex folder_mutex_;
  std::filesystem::file_time_type listed_time_{};  // of the folder when it was last listed; guarded by folder_mutex_
  std::chrono::steady_clock::time_point next_look_{};  // not before; the engine's thread only
  // Guarded by mutex_:
  std::condition_variable wake_, idle_;
  std::deque<ContentPtr> queue_;  // the one being written is its first
  int64_t queue_bytes_ = 0;
  bool is_writing_ = false, is_closing_ = false;
  DiskStats stats_;
  std::chrono::steady_clock::time_point retry_at_{};
  std::thread writer_;
};

}  // namespace pagoda::engine
