// folder_names: opendir and readdir.
#include "io/folder_names.h"

#include <dirent.h>

#include <memory>
#include <string_view>

namespace pagoda::io {

std::vector<std::string> folder_names(const std::string& folder) {
  struct Close {
    void operator()(DIR* stream) const noexcept { closedir(stream); }
  };
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> stream(opendir(folder.c_str()));
  if (!stream) return names;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace pagoda::io
