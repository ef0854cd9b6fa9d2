// Cores that this process may use: what the machine has, less what affinity and CPU quotas of cgroups take away.
#pragma once

#include <string>

namespace pagoda {

// At least 1. Quotas are rounded up: with 1.5 cores, two threads do more than one. On Apple's machines only the
// performance cores count.
int usable_cores();

// The smallest CPU quota of the process's cgroup and the groups above it, in cores; 0 if there is none. Versions 1
// and 2. `root` holds proc/self/cgroup and sys/fs/cgroup: "" except in tests.
double cgroup_cores(const std::string& root);

}  // namespace pagoda
