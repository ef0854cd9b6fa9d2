// Reads and writes verdicts.
#include "device/trial/verdict.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace pagoda::device {
namespace {

using Found = Verdict::Found;
constexpr size_t kMostReason = 200;  // characters
constexpr std::string_view kWords[] = {"", "used", "usual", "trying"};

Verdict read(const std::string& path) {
  std::ifstream file(path);
  std::string word, reason;
  if (path.empty() || !std::getline(file, word)) return {};
  std::getline(file, reason);
  for (const Found found : {Found::used, Found::usual})
    if (word == kWords[static_cast<size_t>(found)]) return {found, reason};
  return {Found::unfinished, "a trial of them did not end"};  // or not one of our files
}

// A result that cannot be cached is not used: the next start might find a different one.
Verdict try_now(const std::string& path, const std::function<Result<Verdict>()>& trial) {
  if (!keep_verdict(path, {Found::unfinished, {}})) return {Found::usual, "there is no folder to cache the result in"};
  const Result<Verdict> made = trial();
  if (!made.is_ok()) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return Verdict::refused(made.status);
  }
  return keep_verdict(path, *made) ? *made : Verdict{Found::usual, "the result could not be cached"};
}

}  // namespace

Verdict Verdict::refused(const Status& status) {
  std::string text = status.message;
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return {Found::usual, text.substr(0, kMostReason)};
}

Verdict Verdict::timed(double time, double most, const char* what) {
  char text[80];
  std::snprintf(text, sizeof text, "%.2f of the time of %s", time, what);
  return {time <= most ? Found::used : Found::usual, text};
}

bool keep_verdict(const std::string& path, const Verdict& verdict) {
  if (path.empty()) return false;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream file(path, std::ios::trunc);
  file << kWords[static_cast<size_t>(verdict.found)] << "\n" << verdict.reason << "\n";
  file.close();
  return file && read(path).found == verdict.found;
}

Verdict find_verdict(const std::string& path, bool may_try, const std::function<Result<Verdict>()>& trial) {
  const Verdict cached = read(path);
  return cached.found != Found::none || !may_try ? cached : try_now(path, trial);
}

}  // namespace pagoda::device
