// Evicts the least recently used files of a cache folder.
#include "base/cache_folder.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#if defined(__APPLE__)
#include <TargetConditionals.h>
#endif

namespace pagoda {
namespace {

namespace fs = std::filesystem;

struct Entry {
  fs::file_time_type last_use;
  int64_t size_bytes;
  fs::path path;
};

bool begins_with(const fs::path& path, std::string_view magic) {
  std::string head(magic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == magic;
}

}  // namespace

std::string cache_folder_in(const CacheHome& where, std::string_view name) {
  const auto is_path = [](const char* path) { return path != nullptr && path[0] == '/'; };
  if (is_path(where.caches)) return std::string(where.caches) + "/pagoda/" + std::string(name);
  if (!is_path(where.home)) return "";
  return std::string(where.home) + (where.is_container ? "/Library/Caches" : "/.cache") + "/pagoda/" +
         std::string(name);
}

std::string user_cache_folder(std::string_view name) {
#if defined(__APPLE__) && TARGET_OS_IPHONE
  const bool is_container = true;
#else
  const bool is_container = std::getenv("APP_SANDBOX_CONTAINER_ID") != nullptr;
#endif
  return cache_folder_in({std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"), is_container}, name);
}

void mark_used(const std::string& path) noexcept {
  std::error_code ignored;  // owned by another user, or already deleted
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
}

void trim_cache_folder(const std::string& folder, std::string_view suffix, std::string_view magic, int64_t max_bytes,
                       const std::string& keep) {
  std::vector<Entry> entries;
  int64_t bytes = 0;
  std::error_code error, ignored;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().native().ends_with(suffix) || entry->path() == fs::path(keep)) continue;
    if (!fs::is_regular_file(entry->symlink_status(ignored))) continue;
    if (!begins_with(entry->path(), magic)) {
      fs::remove(entry->path(), ignored);
      continue;
    }
    std::error_code gone;
    const auto size = static_cast<int64_t>(entry->file_size(gone));
    if (gone) continue;
    bytes += size;
    entries.push_back({entry->last_write_time(ignored), size, entry->path()});
  }
  std::ranges::sort(entries, {}, &Entry::last_use);
  for (const Entry& entry : entries) {
    if (bytes <= max_bytes) return;
    if (fs::remove(entry.path, ignored)) bytes -= entry.size_bytes;
  }
}

int64_t cache_folder_space(const std::string& folder, std::string_view suffix) {
  std::error_code error;
  fs::path existing = folder;
  while (!fs::exists(existing, error) && existing.has_relative_path()) existing = existing.parent_path();
  const fs::space_info space = fs::space(existing, error);
  if (error) return INT64_MAX;
  auto bytes = static_cast<int64_t>(std::min<uintmax_t>(space.available, INT64_MAX / 2));
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().native().ends_with(suffix)) continue;
    std::error_code gone;
    const auto size = static_cast<int64_t>(entry->file_size(gone));
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace pagoda
