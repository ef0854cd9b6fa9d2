// What tells a model file from another, without reading all of it.
#pragma once

#include "base/fnv1a.h"
#include "base/result.h"
#include "io/model_files.h"

namespace pagoda::io {

// Name, size and time of a file, and up to 1 MiB of it in evenly spaced pages: files in memory have no time, and those
// in a folder may have got theirs from an archive.
Status add_identity(const File& file, Fnv1a& hash);

}  // namespace pagoda::io
