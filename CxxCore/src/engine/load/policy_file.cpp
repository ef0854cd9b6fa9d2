// Reads and writes a policy's memory as one small file per model and device.
#include "engine/load/policy_file.h"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/cache_folder.h"
#include "base/concat.h"
#include "base/hash128.h"

namespace pagoda::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".drafts";
constexpr std::streamsize kMaxBytes = 64 << 10;  // of a file; they have about 3 KiB
constexpr int64_t kMaxFolderBytes = 1 << 20;
constexpr int64_t kFewSteps = 16;  // not worth a file

// Whole or not at all: written under another name, which also ends with the suffix, so that what a killed process left
// is evicted like the others.
void replace(const std::string& path, const std::string& bytes) {
  static std::atomic<uint64_t> count = 0;
  const fs::path to(path), folder = to.parent_path();
  const fs::path unfinished = folder / concat(to.stem().string(), ".", getpid(), ".", count++, kSuffix);
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  if (file) fs::rename(unfinished, to, failed);
  if (!file || failed) fs::remove(unfinished, failed);
}

}  // namespace

PolicyFile::PolicyFile(const std::string& folder, const std::string& identity) {
  if (folder.empty()) return;
  Hash128 hash;
  hash.add(speculate::Policy::kMemoryMagic);
  hash.add(identity);
  path_ = folder + "/" + hash.value().text() + std::string(kSuffix);
}

std::shared_ptr<const speculate::Policy> PolicyFile::read() noexcept {
  if (path_.empty()) return nullptr;
  try {
    std::ifstream file(path_, std::ios::binary);
    std::string bytes(static_cast<size_t>(kMaxBytes), '\0');
    file.read(bytes.data(), kMaxBytes);
    bytes.resize(static_cast<size_t>(file.gcount()));
    auto policy = std::make_shared<speculate::Policy>();
    if (!policy->recall(bytes)) return nullptr;
    mark_used(path_);
    num_steps_kept_ = policy->num_steps();
    return policy;
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool PolicyFile::is_due(const speculate::Policy& policy) const noexcept {
  return !path_.empty() && policy.num_steps() - num_steps_kept_ >= kFewSteps;
}

void PolicyFile::write(const speculate::Policy& policy) noexcept {
  num_steps_kept_ = policy.num_steps();
  try {
    trim_cache_folder(fs::path(path_).parent_path(), kSuffix, speculate::Policy::kMemoryMagic, kMaxFolderBytes, path_);
    replace(path_, policy.memory());
  } catch (const std::exception&) {
  }
}

}  // namespace pagoda::engine
