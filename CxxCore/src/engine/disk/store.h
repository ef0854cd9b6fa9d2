// DiskStore: prefix files in a folder with a size limit: an index of the files, the choice of the next one to read, and
// a thread that writes new ones. Other processes may use the folder too: the limit applies to all its files, files
// appear and disappear, and a file that another process is writing is left alone. No failure here fails a request: a
// bad file is removed, and after a failed write (a full disk) writing pauses for a while.
// Thread rule: as PrefixStore; read(), find_chain(), adopt() and stats() may be called from any.
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
  int64_t max_bytes = 0;    // limit for all prefix files in the folder, of any model
  std::string fingerprint;  // files with a different one are never read
  int32_t block_size = 16;
  uint64_t block_bytes = 0, state_bytes = 0;
  double retry_seconds = 5;  // after a failed write
};

class DiskStore final : public PrefixStore {
 public:
  explicit DiskStore(DiskStoreConfig config);
  ~DiskStore() override;  // writes the queued entries

  Result<ContentPtr> read(const Next& next, const std::string& salt, std::span<const int32_t> tokens) override;
  void write(ContentPtr content) override;
  void flush();  // waits until the queue is empty

  // The readable files that together cover the longest prefix of `tokens`, first to last.
  std::vector<PrefixFileInfo> find_chain(const std::string& salt, std::span<const int32_t> tokens) const;
  // Takes over the file at `path`, written by another process or machine, as `name`. Only its head is checked; read()
  // checks the rest. On failure the file is removed.
  Status adopt(const std::string& path, const std::string& name);

  DiskStats stats() const;

 private:
  struct Listed {  // a file of the folder
    Hash128Value key;
    int64_t size_bytes = 0;
    std::filesystem::file_time_type time{};
    std::optional<Entry> entry;  // only if it was not indexed before
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
  void remove_rests();  // removes temporary files of killed writers
  std::vector<Listed> list_folder();
  Status check_received(const std::string& path, const std::string& name) const;
  bool open_new(Listed& file);             // false if there is no valid file
  void refresh();                          // synchronises entries_ with the folder; requires folder_mutex_
  void look_again() override;              // refresh() if the folder has changed; the engine's thread only
  void merge(std::vector<Listed> listed);  // requires mutex_, like everything below
  void count_files() noexcept;
  void run_writer() noexcept;
  void write_file(const Content& content);
  bool may_write() const noexcept override;
  bool make_room(const io::PrefixFileHead& head) override;  // makes room in the queue; the writer does so in the folder
  void make_room(int64_t size_bytes);
  void remove(const Hash128Value& key) noexcept;  // including the file
  void forget(const Hash128Value& key) noexcept;  // only the entry
  void pause(const std::string& reason);

  DiskStoreConfig config_;
  // Held while the folder is listed and entries_ is updated, and while a file is written: a list made before the write
  // would treat the new entry as removed by another process. Locked before mutex_.
  std::mutex folder_mutex_;
  std::filesystem::file_time_type listed_time_{};  // of the folder when it was last listed; guarded by folder_mutex_
  std::chrono::steady_clock::time_point next_look_{};  // earliest time of the next listing; the engine's thread only
  // Guarded by mutex_:
  std::condition_variable wake_, idle_;
  std::deque<ContentPtr> queue_;  // the front is being written
  int64_t queue_bytes_ = 0;
  bool is_writing_ = false, is_closing_ = false;
  DiskStats stats_;
  std::chrono::steady_clock::time_point retry_at_{};
  std::thread writer_;
};

}  // namespace pagoda::engine
