// PrefixMatch: how much of a prompt an engine has cached, for routers that choose among engines; the files that contain
// it, for engines that fetch them from each other; and prefixes that are pinned or saved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pagoda/status.h"

namespace pagoda {

struct PrefixMatch {
  Status status;
  int32_t num_matched_tokens = 0;  // leading tokens whose KV blocks are cached
  int32_t num_cached_tokens = 0;   // those that a request would not compute again: up to the last saved state
};

// A file of EngineOptions::prefix_cache_dir.
struct PrefixFileInfo {
  std::string name;                           // in the folder
  int32_t position = 0, parent_position = 0;  // tokens up to its end, and up to the end of the file before it
  int64_t size_bytes = 0;
};

struct PrefixPin {
  Status status;
  uint64_t pin_id = 0;
  int32_t num_tokens = 0;  // leading tokens that are pinned
};

struct SavedPrefix {
  Status status;
  int32_t num_tokens = 0;  // leading tokens in the file
};

struct PrefixFilesResult {
  Status status;
  std::vector<PrefixFileInfo> files;
};

}  // namespace pagoda
