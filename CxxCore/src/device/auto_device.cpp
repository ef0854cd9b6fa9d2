// Tries devices, and caches the results in small files.
#include "device/auto_device.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "base/hash128.h"
#include "device/self_test.h"

namespace pagoda::device {
namespace {

constexpr std::string_view kPassed = "passed";

struct Trial {
  std::unique_ptr<Device> device;
  Status status;
};

// The file with the cached result for a device; empty for none.
std::string verdict_path(const AutoOptions& options, const AutoCandidate& candidate, const Device& device) {
  if (options.verdict_folder.empty()) return "";
  Hash128 hash;
  hash.add(candidate.name);
  hash.add(device.info().description);
  hash.add(candidate.version);
  return options.verdict_folder + "/" + hash.value().text() + ".verdict";
}

std::string read_verdict(const std::string& path) {
  if (path.empty()) return "";
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? line : "";
}

// On any error, the next start tries the device again.
void keep_verdict(const std::string& path) {
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream(path) << kPassed << "\n";
}

Trial try_device(const AutoCandidate& candidate, const std::function<Result<std::unique_ptr<Device>>()>& make_trusted,
                 const AutoOptions& options) {
  auto made = candidate.make();
  if (!made.is_ok()) return {nullptr, made.status};
  if (Status status = check_support(**made, options.needs); !status.is_ok()) {
    status.message = candidate.name + " cannot run this model: " + status.message;
    return {nullptr, std::move(status)};
  }
  const std::string path = verdict_path(options, candidate, **made);
  if (read_verdict(path) == kPassed) return {std::move(*made), {}};
  auto trusted = make_trusted();
  if (!trusted.is_ok()) return {nullptr, trusted.status};
  Status status = self_test(**made, **trusted);
  if (!status.is_ok()) return {nullptr, std::move(status)};
  keep_verdict(path);
  return {std::move(*made), {}};
}

}  // namespace

AutoChoice choose_device(const std::vector<AutoCandidate>& candidates,
                         const std::function<Result<std::unique_ptr<Device>>()>& make_trusted,
                         const AutoOptions& options) {
  AutoChoice choice;
  for (const AutoCandidate& candidate : candidates) {
    std::promise<Trial> promise;
    std::future<Trial> trial = promise.get_future();
    try {
      // Captures everything by value: an abandoned thread must not refer to any of our objects.
      std::thread([candidate, make_trusted, options, promise = std::move(promise)]() mutable {
        promise.set_value(try_device(candidate, make_trusted, options));
      }).detach();
    } catch (const std::system_error&) {
      if (choice.reason.empty()) choice.reason = candidate.name + ": no thread to try it on";
      continue;
    }
    if (trial.wait_for(std::chrono::duration<double>(options.max_seconds)) != std::future_status::ready) {
      if (choice.reason.empty()) choice.reason = candidate.name + " did not answer in time";
      continue;
    }
    Trial tried = trial.get();
    if (tried.device) {
      choice.device = std::move(tried.device);
      return choice;
    }
    if (choice.reason.empty()) choice.reason = tried.status.message;
  }
  return choice;
}

}  // namespace pagoda::device
