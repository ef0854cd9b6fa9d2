// The names in a folder, for code that must survive a failed allocation.
#pragma once

#include <string>
#include <vector>

namespace pagoda::io {

// Without "." and ".."; those read so far if the folder cannot be read to its end, none if it cannot be opened.
// std::filesystem::directory_iterator is no alternative: libstdc++ copies each name inside a noexcept function, so a
// failed allocation there ends the program ("terminate called without an active exception").
std::vector<std::string> folder_names(const std::string& folder);

}  // namespace pagoda::io
