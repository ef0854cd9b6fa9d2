// Cache folders: files that can be made again, of which those used last are kept.
// Other programs may use the files at the same time: what is open or mapped lives on when its name goes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda {

// The file was used now: its time of modification says so, whatever the file system does with times of access.
void mark_used(const std::string& path) noexcept;

// Removes plain files whose names end with `suffix`: those that do not begin with `magic`, which are of an older form,
// and then those not used for longest, until the rest has `max_bytes`. `keep` is not touched, nor counted. What cannot
// be removed stays.
void trim_cache_folder(const std::string& folder, std::string_view suffix, std::string_view magic, int64_t max_bytes,
                       const std::string& keep);

}  // namespace pagoda
