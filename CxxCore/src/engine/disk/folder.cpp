// DiskStore: the files in the folder, of all processes, and eviction of the least recently used.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "base/assign_or_return.h"
#include "engine/disk/store.h"
#include "io/file_writer.h"
#include "io/folder_names.h"

namespace pagoda::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".pagoda-prefix", kRestSuffix = ".pagoda-prefix.tmp";

// The key in a file name.
std::optional<Hash128Value> key_of(std::string_view name) noexcept {
  constexpr size_t kDigits = 16;
  if (name.size() != 2 * kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  Hash128Value key;
  const auto read = [&](size_t at, uint64_t& half) {
    const char* end = name.data() + at + kDigits;
    const auto result = std::from_chars(name.data() + at, end, half, 16);
    return result.ec == std::errc() && result.ptr == end;
  };
  if (!read(0, key.high) || !read(kDigits, key.low) || !name.starts_with(key.text())) return std::nullopt;
  return key;
}

}  // namespace

std::string DiskStore::path_of(const Hash128Value& key) const {
  return config_.folder + "/" + key.text() + std::string(kSuffix);
}

bool DiskStore::open_folder() {
  std::error_code error;
  if (fs::create_directories(config_.folder, error)) fs::permissions(config_.folder, fs::perms::owner_all, error);
  if (config_.folder.find('\0') != std::string::npos || !fs::is_directory(config_.folder, error)) {
    std::lock_guard lock(mutex_);
    pause(config_.folder + ": is not a folder");
    return false;
  }
  remove_rests();
  const std::lock_guard folder(folder_mutex_);
  refresh();
  std::lock_guard lock(mutex_);
  make_room(0);
  return true;
}

void DiskStore::remove_rests() {
  for (const std::string& name : io::folder_names(config_.folder))
    if (name.ends_with(kRestSuffix))
      io::FileWriter::remove_rest(config_.folder + "/" + name.substr(0, name.size() - 4));
}

// Files whose name is not a key are removed.
std::vector<DiskStore::Listed> DiskStore::list_folder() {
  std::vector<Listed> listed;
  std::error_code gone;
  for (const std::string& name : io::folder_names(config_.folder)) {
    if (!name.ends_with(kSuffix)) continue;
    const fs::path path = config_.folder + "/" + name;
    if (fs::is_directory(path, gone)) continue;
    if (const std::optional<Hash128Value> key = key_of(name)) {
      const auto size = fs::file_size(path, gone);
      if (gone) continue;
      const auto time = fs::last_write_time(path, gone);
      if (!gone) listed.push_back({*key, static_cast<int64_t>(size), time, std::nullopt});
    } else if (fs::remove(path, gone)) {
      std::lock_guard lock(mutex_);
      ++stats_.num_bad_files;
    }
  }
  std::ranges::sort(listed, {}, &Listed::time);
  return listed;
}

// A file whose head is incomplete or does not match its name is removed.
bool DiskStore::open_new(Listed& file) {
  const std::string path = path_of(file.key);
  const auto opened = io::PrefixFile::open(path);
  if (opened.is_ok() && (*opened)->head().key == file.key) {
    file.entry = read_entry((*opened)->head());
    return true;
  }
  if (opened.status.code == StatusCode::not_found) return false;
  std::error_code ignored;
  fs::remove(path, ignored);
  std::lock_guard lock(mutex_);
  ++stats_.num_bad_files;
  return false;
}

// A folder's modification time has a resolution of a few milliseconds: a change soon after another may not show.
void DiskStore::refresh() {
  constexpr auto kClockStep = std::chrono::milliseconds(50);
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(config_.folder, error);
  const bool is_recent = error || fs::file_time_type::clock::now() - time < kClockStep;
  listed_time_ = is_recent ? fs::file_time_type{} : time;
  std::vector<Listed> listed = list_folder();
  std::erase_if(listed, [&](Listed& file) {
    {
      std::lock_guard lock(mutex_);
      if (entries_.contains(file.key)) return false;
    }
    return !open_new(file);
  });
  std::lock_guard lock(mutex_);
  merge(std::move(listed));
}

// If the folder's modification time has not changed, this costs one system call; otherwise the folder is listed, using
// at most a twentieth of this thread's time.
void DiskStore::look_again() {
  using std::chrono::steady_clock;
  constexpr int kShare = 20;
  const steady_clock::time_point begin = steady_clock::now();
  if (begin < next_look_) return;
  const std::unique_lock folder(folder_mutex_, std::try_to_lock);
  if (!folder) return;  // the writer refreshes before and after each file
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(config_.folder, error);
  if (error || time == listed_time_) return;
  refresh();
  const steady_clock::time_point end = steady_clock::now();
  next_look_ = end + (kShare - 1) * (end - begin);
}

void DiskStore::merge(std::vector<Listed> listed) {
  for (Listed& file : listed) {  // oldest first
    auto found = entries_.find(file.key);
    if (found == entries_.end()) {
      if (!file.entry) continue;  // removed in the meantime
      found = entries_.emplace(file.key, *file.entry).first;
    }
    Entry& entry = found->second;
    entry.size_bytes = file.size_bytes;
    if (entry.time == file.time) continue;
    entry.time = file.time;
    entry.last_use = ++last_use_;
  }
  std::ranges::sort(listed, {}, &Listed::key);
  std::erase_if(entries_, [&](const auto& entry) {  // files removed by another process
    return entry.second.size_bytes > 0 && !std::ranges::binary_search(listed, entry.first, {}, &Listed::key);
  });
  count_files();
}

void DiskStore::count_files() noexcept {
  stats_.bytes = stats_.num_files = 0;
  for (const auto& [key, entry] : entries_) {
    stats_.bytes += entry.size_bytes;
    stats_.num_files += entry.size_bytes > 0;
  }
}

Status DiskStore::check_received(const std::string& path, const std::string& name) const {
  const std::optional<Hash128Value> key = key_of(name);
  if (!key) return make_error(StatusCode::invalid_argument, "the name of a prefix file is not one");
  PAGODA_ASSIGN_OR_RETURN(const auto file, io::PrefixFile::open(path));
  if (file->head().key != *key || !is_ours(file->head()))
    return make_error(StatusCode::bad_file, "a prefix file is of another model, build or prompt than its name says");
  const auto tokens = file->read_tokens();  // including everything covered by the head's checksum
  return tokens.status;
}

Status DiskStore::adopt(const std::string& path, const std::string& name) {
  std::error_code error;
  Status status = check_received(path, name);
  const auto size = static_cast<int64_t>(status.is_ok() ? fs::file_size(path, error) : 0);
  if (status.is_ok() && (error || size > config_.max_bytes))
    status = make_error(StatusCode::resource_exhausted, "a prefix file is larger than the folder may be");
  if (status.is_ok()) {
    const std::lock_guard folder(folder_mutex_);
    {
      std::lock_guard lock(mutex_);
      make_room(size);
    }
    fs::rename(path, config_.folder + "/" + name, error);
    if (error)
      status = make_error(StatusCode::io_error, "a prefix file cannot be moved into its folder: " + error.message());
    refresh();
  }
  if (!status.is_ok()) fs::remove(path, error);
  return status;
}

void DiskStore::make_room(int64_t size_bytes) {
  while (stats_.bytes + size_bytes > config_.max_bytes) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->second.size_bytes > 0 &&
          (oldest == entries_.end() || entry->second.last_use < oldest->second.last_use))
        oldest = entry;
    if (oldest == entries_.end()) return;
    ++stats_.num_evictions;
    remove(oldest->first);
  }
}

void DiskStore::remove(const Hash128Value& key) noexcept {
  if (!entries_.contains(key)) return;
  try {
    std::error_code ignored;
    fs::remove(path_of(key), ignored);
  } catch (const std::bad_alloc&) {  // the file is found again when the folder is listed
  }
  forget(key);
}

void DiskStore::forget(const Hash128Value& key) noexcept {
  entries_.erase(key);
  count_files();
}

}  // namespace pagoda::engine
