// Cache folders: files that can be regenerated, evicted least recently used first.
// Other processes may use the files concurrently: an open or mapped file stays valid after it is unlinked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda {

// Where caches may be: an app in a container (iOS, or the sandbox of macOS) may write only to Library/Caches in its
// home.
struct CacheHome {
  const char* caches;  // $XDG_CACHE_HOME, or null
  const char* home;    // $HOME, or null
  bool is_container;
};

// The user's cache folder of this name: under $XDG_CACHE_HOME, else ~/.cache, or ~/Library/Caches in a container. "" if
// there is none.
std::string user_cache_folder(std::string_view name);
std::string cache_folder_in(const CacheHome& where, std::string_view name);

// Marks the file as just used by setting its modification time; access times are unreliable (noatime).
void mark_used(const std::string& path) noexcept;

// Deletes regular files whose names end with `suffix`: first those that do not start with `magic` (an older format),
// then the least recently used, until at most `max_bytes` remain. `keep` is neither deleted nor counted. Files that
// cannot be deleted are skipped.
void trim_cache_folder(const std::string& folder, std::string_view suffix, std::string_view magic, int64_t max_bytes,
                       const std::string& keep);

// Bytes that are free on the disk where the folder is or would be, and those of its files with this suffix. INT64_MAX
// if the disk cannot be asked; writing there will tell why.
int64_t cache_folder_space(const std::string& folder, std::string_view suffix);

}  // namespace pagoda
