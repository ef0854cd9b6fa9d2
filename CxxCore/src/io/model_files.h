// ModelFiles: the files of one model, in a folder, in GGUF files, in memory or synthetic; the core reads model data
// only through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pagoda/model_source.h"

namespace pagoda::io {

// One open file. Reads are bounds-checked and fail with a Status if the file shrank after it was opened, so that
// truncation is an error and never a SIGBUS.
class File {
 public:
  virtual ~File() = default;
  virtual uint64_t size_bytes() const noexcept = 0;
  virtual const std::string& name() const noexcept = 0;       // for messages: the path, or the in-memory name
  virtual int64_t modified_ns() const noexcept { return 0; }  // since 1970, when opened; 0 outside a folder
  virtual Status read(uint64_t offset, std::span<std::byte> into) const noexcept = 0;
};

class Gguf;

class ModelFiles {
 public:
  virtual ~ModelFiles() = default;
  virtual bool exists(std::string_view name) const noexcept = 0;
  virtual Result<std::unique_ptr<File>> open(std::string_view name) const = 0;
  virtual std::vector<std::string> names() const = 0;         // plain file names, sorted
  virtual std::string description() const = 0;                // the folder, the GGUF file, "memory", or "shape NAME"
  virtual std::span<const Gguf> gguf_parts() const noexcept;  // the parts of a GGUF model; otherwise empty
  Result<std::string> read_text(std::string_view name, uint64_t max_bytes) const;
};

// Fails with bad_file unless bytes [offset, offset + count) are inside the file `name` of `size` bytes.
Status check_range(const std::string& name, uint64_t size, uint64_t offset, uint64_t count);

Result<std::unique_ptr<ModelFiles>> open_model_files(const ModelSource& source);

}  // namespace pagoda::io
