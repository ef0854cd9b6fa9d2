// Model files in a folder and in memory, and the choice among all kinds of model sources.
#include "io/model_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/quoted.h"
#include "io/gguf/files.h"
#include "io/gguf/gguf.h"
#include "io/synthetic/files.h"

namespace pagoda::io {
namespace {

std::string error_text(int error) { return std::system_category().message(error); }

// Accepts only plain file names, never a path out of the model: names come from index.json and other untrusted sources.
Status check_name(std::string_view name) {
  const auto refuse = [&](const char* why) {
    return make_error(StatusCode::invalid_argument, "file name " + io::quoted(name) + " " + why);
  };
  if (name.empty()) return refuse("is empty");
  if (name.find('\0') != name.npos) return refuse("contains a NUL byte");
  if (name.find_first_of("/\\") != name.npos) return refuse("contains a path separator");
  if (name == "." || name.find("..") != name.npos) return refuse("leads out of the model");
  return ok_status();
}

// Uses pread instead of a mapping: if another program truncates the file, the result is a short read instead of SIGBUS,
// with no window between check and access; and the data is copied to device memory anyway.
class FolderFile final : public File {
 public:
  FolderFile(std::string path, int descriptor, const struct stat& info) noexcept
      : path_(std::move(path)),
        descriptor_(descriptor),
        size_(static_cast<uint64_t>(info.st_size)),
        modified_ns_(modified(info)) {}
  ~FolderFile() override { close(descriptor_); }
  FolderFile(const FolderFile&) = delete;
  FolderFile& operator=(const FolderFile&) = delete;

  uint64_t size_bytes() const noexcept override { return size_; }
  const std::string& name() const noexcept override { return path_; }
  int64_t modified_ns() const noexcept override { return modified_ns_; }

  Status read(uint64_t offset, std::span<std::byte> into) const noexcept override {
    PAGODA_RETURN_IF_ERROR(check_range(path_, size_, offset, into.size()));
    constexpr size_t kMaxBytesPerCall = size_t{1} << 30;  // macOS rejects more than INT_MAX
    while (!into.empty()) {
      const ssize_t count =
          pread(descriptor_, into.data(), std::min(into.size(), kMaxBytesPerCall), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return make_error(StatusCode::io_error, path_ + ": cannot be read: " + error_text(errno));
      if (count == 0) {
        return make_error(StatusCode::io_error, concat(path_, ": shrank after it was opened: had ", size_,
                                                       " bytes, now ends before byte ", offset + 1));
      }
      offset += static_cast<uint64_t>(count);
      into = into.subspan(static_cast<size_t>(count));
    }
    return ok_status();
  }

 private:
  static int64_t modified(const struct stat& info) noexcept {
#if defined(__APPLE__)
    const timespec time = info.st_mtimespec;
#else
    const timespec time = info.st_mtim;
#endif
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }

  std::string path_;
  int descriptor_;
  uint64_t size_;  // when opened
  int64_t modified_ns_;
};

class MemoryFile final : public File {
 public:
  MemoryFile(std::string name, std::span<const uint8_t> bytes) noexcept : name_(std::move(name)), bytes_(bytes) {}

  uint64_t size_bytes() const noexcept override { return bytes_.size(); }
  const std::string& name() const noexcept override { return name_; }

  Status read(uint64_t offset, std::span<std::byte> into) const noexcept override {
    PAGODA_RETURN_IF_ERROR(check_range(name_, bytes_.size(), offset, into.size()));
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return ok_status();
  }

 private:
  std::string name_;
  std::span<const uint8_t> bytes_;
};

class FolderFiles final : public ModelFiles {
 public:
  explicit FolderFiles(std::string folder) noexcept : folder_(std::move(folder)) {}

  bool exists(std::string_view name) const noexcept override {
    struct stat info;
    return check_name(name).is_ok() && stat(path(name).c_str(), &info) == 0;
  }

  // O_NONBLOCK keeps opening a FIFO from waiting for a writer. Symbolic links are followed: the Hugging Face cache
  // consists of them.
  Result<std::unique_ptr<File>> open(std::string_view name) const override {
    PAGODA_RETURN_IF_ERROR(check_name(name));
    std::string full = path(name);
    int descriptor = -1;
    do descriptor = ::open(full.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) {
      const bool absent = errno == ENOENT || errno == ENOTDIR;
      return make_error(absent ? StatusCode::not_found : StatusCode::io_error,
                        full + ": cannot be opened: " + error_text(errno));
    }
    struct stat info;
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
      close(descriptor);
      return make_error(StatusCode::bad_file, full + ": is not a regular file");
    }
    return std::unique_ptr<File>(std::make_unique<FolderFile>(std::move(full), descriptor, info));
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> found;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder_, error), end;
    for (; !error && entry != end; entry.increment(error)) {
      std::error_code unreadable;
      if (entry->is_regular_file(unreadable)) found.push_back(entry->path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::string description() const override { return folder_; }

 private:
  std::string path(std::string_view name) const {
    return folder_ + (folder_.ends_with('/') ? "" : "/") + std::string(name);
  }

  std::string folder_;
};

class MemoryFiles final : public ModelFiles {
 public:
  explicit MemoryFiles(std::map<std::string, std::span<const uint8_t>, std::less<>> files) noexcept
      : files_(std::move(files)) {}

  bool exists(std::string_view name) const noexcept override { return files_.find(name) != files_.end(); }

  Result<std::unique_ptr<File>> open(std::string_view name) const override {
    PAGODA_RETURN_IF_ERROR(check_name(name));
    const auto found = files_.find(name);
    if (found == files_.end()) {
      return make_error(StatusCode::not_found, "no file " + io::quoted(name) + " in the model in memory");
    }
    return std::unique_ptr<File>(std::make_unique<MemoryFile>(found->first, found->second));
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& [name, bytes] : files_) all.push_back(name);
    return all;
  }

  std::string description() const override { return "memory"; }

 private:
  std::map<std::string, std::span<const uint8_t>, std::less<>> files_;
};

Result<std::unique_ptr<ModelFiles>> open_memory(const std::vector<ModelFile>& given) {
  std::map<std::string, std::span<const uint8_t>, std::less<>> files;
  for (const ModelFile& file : given) {
    PAGODA_RETURN_IF_ERROR(check_name(file.name));
    if (file.data == nullptr && file.size_bytes != 0) {
      return make_error(StatusCode::invalid_argument, "model file " + io::quoted(file.name) + " has no data");
    }
    if (!files.emplace(file.name, std::span(file.data, static_cast<size_t>(file.size_bytes))).second) {
      return make_error(StatusCode::invalid_argument, "model file " + io::quoted(file.name) + " occurs twice");
    }
  }
  return std::unique_ptr<ModelFiles>(std::make_unique<MemoryFiles>(std::move(files)));
}

}  // namespace

Status check_range(const std::string& name, uint64_t size, uint64_t offset, uint64_t count) {
  if (offset <= size && count <= size - offset) return ok_status();
  return make_error(StatusCode::bad_file,
                    concat(name, ": bytes [", offset, ", +", count, ") are outside the file of ", size, " bytes"));
}

std::span<const Gguf> ModelFiles::gguf_parts() const noexcept { return {}; }

Result<std::string> ModelFiles::read_text(std::string_view name, uint64_t max_bytes) const {
  PAGODA_ASSIGN_OR_RETURN(auto file, open(name));
  const uint64_t size = file->size_bytes();
  if (size > max_bytes) {
    return make_error(StatusCode::bad_file, concat(file->name(), ": has ", size, " bytes, more than ", max_bytes));
  }
  std::string text(static_cast<size_t>(size), '\0');
  PAGODA_RETURN_IF_ERROR(file->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

namespace {

// A model without config.json may be a GGUF file.
Result<std::unique_ptr<ModelFiles>> or_gguf(std::unique_ptr<ModelFiles> files, std::unique_ptr<File> vision) {
  std::string name;
  if (!files->exists("config.json")) {
    PAGODA_ASSIGN_OR_RETURN(name, find_gguf_name(*files));
  }
  if (!name.empty()) return open_gguf_files(std::move(files), name, std::move(vision));
  if (vision == nullptr) return files;
  return make_field_error(
      StatusCode::invalid_argument, "vision_file",
      "vision_file " + vision->name() + ": only GGUF models have their vision tower in a separate file");
}

// A path as a folder and the name of a file in it.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  return {slash == path.npos ? "." : path.substr(0, slash + 1), path.substr(slash + 1)};
}

Result<std::unique_ptr<ModelFiles>> open_path(const std::string& path, std::unique_ptr<File> vision) {
  if (path.find('\0') != path.npos)
    return make_error(StatusCode::invalid_argument, "model folder " + io::quoted(path) + " contains a NUL byte");
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return make_error(absent ? StatusCode::not_found : StatusCode::io_error,
                      "model folder " + path + ": " + error_text(errno));
  }
  if (S_ISDIR(info.st_mode)) return or_gguf(std::make_unique<FolderFiles>(path), std::move(vision));
  if (!path.ends_with(".gguf"))
    return make_error(StatusCode::invalid_argument, path + ": is neither a folder nor a .gguf file");
  const auto [folder, name] = split_path(path);
  return open_gguf_files(std::make_unique<FolderFiles>(folder), name, std::move(vision));
}

}  // namespace

Result<std::unique_ptr<ModelFiles>> open_model_files(const ModelSource& source) {
  if (!source.shape.empty()) {
    if (source.files.empty() && source.directory.empty()) return open_synthetic_files(source.shape);
    return make_error(StatusCode::invalid_argument, "the model source has both a shape and files");
  }
  if (source.directory.empty() && source.files.empty())
    return make_error(StatusCode::invalid_argument, "the model source names no folder, no files and no shape");
  std::unique_ptr<File> vision;
  if (!source.vision_file.empty()) {
    const auto [folder, name] = split_path(source.vision_file);
    PAGODA_ASSIGN_OR_RETURN(vision, FolderFiles(folder).open(name));
  }
  if (source.files.empty()) return open_path(source.directory, std::move(vision));
  auto files = open_memory(source.files);
  if (!files.is_ok()) return files;
  return or_gguf(std::move(*files), std::move(vision));
}

}  // namespace pagoda::io
