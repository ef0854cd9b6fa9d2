// Locks the folder itself: the lock ends with the process, however that terminates.
#include "io/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/concat.h"

namespace pagoda::io {
namespace {

namespace fs = std::filesystem;

Status system_error(const std::string& path, const char* what, int number) {
  return make_error(StatusCode::io_error, path + ": cannot be " + what + ": " + std::system_category().message(number));
}

Status check_free(const fs::path& parent, uint64_t needed_bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(parent, error);
  if (!error && space.available < needed_bytes) {
    return make_error(StatusCode::resource_exhausted,
                      concat("the files need ", needed_bytes, " bytes, and the disk of ", parent.string(), " has ",
                             space.available, " free"));
  }
  return ok_status();
}

}  // namespace

Result<std::unique_ptr<OutputFolder>> OutputFolder::create(const std::string& given, uint64_t needed_bytes) {
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.empty() || path == "/" || path == "." || path == "..") {
    return make_error(StatusCode::invalid_argument, "'" + given + "' cannot be the name of a new folder");
  }
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error)) && !(fs::is_directory(path, error) && fs::is_empty(path, error))) {
    return make_error(StatusCode::invalid_argument, path + ": exists already; name a new folder");
  }
  fs::path parent = fs::path(path).parent_path();
  if (parent.empty()) parent = ".";
  fs::create_directories(parent, error);  // a failure shows up below
  PAGODA_RETURN_IF_ERROR(check_free(parent, needed_bytes));
  std::unique_ptr<OutputFolder> folder(new OutputFolder(path, -1));
  if (mkdir(folder->partial().c_str(), 0777) != 0 && errno != EEXIST) {
    return system_error(folder->partial(), "created", errno);
  }
  const int descriptor = open(folder->partial().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return system_error(folder->partial(), "opened", errno);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor);
    return make_error(StatusCode::io_error, path + ": is being written by another process");
  }
  folder->descriptor_ = descriptor;
  for (const fs::directory_entry& rest : fs::directory_iterator(folder->partial(), error)) fs::remove_all(rest, error);
  return folder;
}

OutputFolder::~OutputFolder() {
  if (descriptor_ < 0) return;
  std::error_code ignored;
  if (!is_committed_) fs::remove_all(partial(), ignored);
  close(descriptor_);  // also unlocks
}

Status OutputFolder::commit() {
  if (fsync(descriptor_) != 0) return system_error(partial(), "written to the disk", errno);
  if (std::rename(partial().c_str(), path_.c_str()) != 0) return system_error(path_, "created", errno);
  is_committed_ = true;
  return ok_status();
}

}  // namespace pagoda::io
