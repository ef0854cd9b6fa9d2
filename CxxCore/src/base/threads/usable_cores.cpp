// Cores by sched_getaffinity, cpu.max (cgroup 2), cpu.cfs_quota_us (cgroup 1), and hw.perflevel0 on Apple's machines.
#include "base/threads/usable_cores.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace pagoda {
namespace {

int cores_of_machine() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);  // fails with more than 1024 cores
#elif defined(__APPLE__)
  int count = 0;
  size_t size = sizeof count;
  if (sysctlbyname("hw.perflevel0.logicalcpu", &count, &size, nullptr, 0) == 0 && count > 0) return count;
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::optional<std::string> first_word(const std::string& path, std::string* second = nullptr) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  if (second != nullptr) file >> *second;
  return word;
}

// Cores from a quota and its period, in microseconds; 0 if either is missing, "max" or not positive.
double quotient(const std::string& quota, const std::string& period) {
  char* end = nullptr;
  const double used = std::strtod(quota.c_str(), &end);
  if (end == quota.c_str() || *end != 0) return 0;
  const double of = std::strtod(period.c_str(), &end);
  if (end == period.c_str() || *end != 0 || !(used > 0) || !(of > 0)) return 0;
  return std::isfinite(used / of) ? used / of : 0;
}

double quota_in(const std::string& folder) {
  std::string period;
  if (const auto quota = first_word(folder + "/cpu.max", &period)) return quotient(*quota, period);
  const auto quota = first_word(folder + "/cpu.cfs_quota_us");
  const auto old_period = first_word(folder + "/cpu.cfs_period_us");
  return quota && old_period ? quotient(*quota, *old_period) : 0;
}

// The smallest quota in `mount` + `group` and its parents. In a container the group may name a folder of the host that
// is not mounted; its last parent, the mount itself, is then the container's own group.
double smallest_quota(const std::string& mount, std::string group) {
  double smallest = 0;
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    const double quota = quota_in(mount + group);
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    if (group.empty()) return smallest;
    group.erase(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

bool has_cpu_controller(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

double cgroup_cores(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");  // lines of hierarchy:controllers:group
  double smallest = 0;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (!controllers.empty() && !has_cpu_controller(controllers)) continue;
    // The kernel may list the controllers in another order than the folder's name does; there is a link then.
    for (const std::string& folder : {controllers, std::string(controllers.empty() ? "" : "cpu")}) {
      const double quota = smallest_quota(root + "/sys/fs/cgroup" + (folder.empty() ? "" : "/") + folder, group);
      if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    }
  }
  return smallest;
}

int usable_cores() {
  const int cores = std::max(cores_of_machine(), 1);
  const double quota = cgroup_cores("");
  return quota > 0 ? std::max(1, static_cast<int>(std::min<double>(cores, std::ceil(quota)))) : cores;
}

}  // namespace pagoda
