// Identifies a model file without reading all of it.
#pragma once

#include "base/fnv1a.h"
#include "base/hash128.h"
#include "base/result.h"
#include "io/model_files.h"

namespace pagoda::io {

// Hashes a file's name, size and modification time, and up to 1 MiB of it in evenly spaced pages: files in memory have
// no time, and extracted archives may reset it.
Status add_identity(const File& file, Fnv1a& hash);

// Hashes a file's name and all of its content: the same on every machine that has the file.
Status add_content(const File& file, Hash128& hash);

}  // namespace pagoda::io
