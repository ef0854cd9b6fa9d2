// base/threads: every index runs once, no round waits for a worker that is late, the number of threads follows what
// they save, and cores are counted with quotas.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads/thread_level.h"
#include "base/threads/thread_pool.h"
#include "base/threads/usable_cores.h"
#include "support/test.h"

namespace pagoda {

PAGODA_TEST(base_thread_pool_runs_every_index_once) {
  for (int threads = 1; threads <= 4; ++threads) {
    auto pool = ThreadPool::create(threads);
    REQUIRE_OK(pool);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      (*pool)->parallel_for(count, [&](int64_t i, int thread) {
        CHECK(thread >= 0 && thread < threads);
        ++seen[static_cast<size_t>(i)];
      });
      for (auto& n : seen) CHECK_EQ(n.load(), 1);
    }
  }
}

// More threads than most test machines have cores: workers come late to rounds, and the number of threads changes.
PAGODA_TEST(base_thread_pool_runs_every_index_once_in_many_rounds) {
  auto pool = ThreadPool::create(6);
  REQUIRE_OK(pool);
  std::vector<int> seen(37);  // not atomic: each round must see the writes of the one before
  int num_wrong = 0;
  for (int round = 1; round <= 3000; ++round) {
    const int64_t count = 2 + round % 36;
    (*pool)->parallel_for(count, [&](int64_t i, int) { ++seen[static_cast<size_t>(i)]; });
    for (int64_t i = 0; i < count; ++i) num_wrong += std::exchange(seen[static_cast<size_t>(i)], 0) != 1;
  }
  CHECK_EQ(num_wrong, 0);
}

PAGODA_TEST(base_thread_pool_does_not_wait_for_a_worker_that_has_not_begun) {
  std::latch may_start(1);
  auto pool = ThreadPool::create(3, [&](int thread) {
    if (thread == 1) may_start.wait();
  });
  REQUIRE_OK(pool);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> num_run = 0;
    (*pool)->parallel_for(10, [&](int64_t, int thread) {
      CHECK(thread != 1);
      ++num_run;
    });
    CHECK_EQ(num_run.load(), 10);
  }
  may_start.count_down();
  for (std::atomic<bool> has_joined = false; !has_joined;)
    (*pool)->parallel_for(10, [&](int64_t, int thread) {
      if (thread == 1) has_joined = true;
      else std::this_thread::yield();
    });
}

PAGODA_TEST(base_thread_pool_runs_the_share_of_a_worker_that_is_held) {
  constexpr int kCount = 40;
  auto pool = ThreadPool::create(2);
  REQUIRE_OK(pool);
  for (bool was_held = false; !was_held;) {
    std::atomic<int> num_run = 0, num_held = 0;
    (*pool)->parallel_for(kCount, [&](int64_t, int thread) {
      if (thread == 1 && num_held.fetch_add(1) == 0)
        for (int n; (n = num_run.load()) < kCount - 1;) num_run.wait(n);
      else std::this_thread::yield();
      ++num_run;
      num_run.notify_one();
    });
    CHECK_EQ(num_run.load(), kCount);
    was_held = num_held > 0;
    if (was_held) CHECK_EQ(num_held.load(), 1);
  }
}

PAGODA_TEST(base_thread_pool_refuses_bad_counts) {
  CHECK(ThreadPool::create(0).status.code == StatusCode::invalid_argument);
  CHECK(ThreadPool::create(100000).status.code == StatusCode::invalid_argument);
}

constexpr int64_t kMs = 1'000'000;

PAGODA_TEST(base_thread_level_estimates_what_a_round_saves) {
  CHECK_EQ(ThreadLevel(1).saved_ns(kMs, 10, 10), 0);
  const ThreadLevel two(2), sixteen(16);
  CHECK_EQ(two.saved_ns(kMs, 8, 16), kMs);                       // alone, the caller would have taken twice as long
  CHECK_EQ(two.saved_ns(kMs, 16, 16), 0);                        // the worker took nothing
  CHECK_EQ(two.saved_ns(kMs, 0, 16), 0);                         // nothing to compare with
  CHECK(std::abs(sixteen.saved_ns(3 * kMs, 1, 16) - kMs) <= 1);  // twelve threads: 4 ms
}

PAGODA_TEST(base_thread_level_keeps_all_threads_through_short_waits) {
  ThreadLevel level(4);
  for (int i = 1; i < 10000; ++i) level.add(i % 100 == 0 ? -3 * kMs : kMs / 10, i * kMs);
  CHECK_EQ(level.threads(), 4);
}

PAGODA_TEST(base_thread_level_drops_to_one_thread_when_waits_prevail) {
  ThreadLevel level(16);
  std::vector<int> levels;
  for (int i = 0; i < 20; ++i) {
    level.add(-5 * kMs, i);
    if (levels.empty() || levels.back() != level.threads()) levels.push_back(level.threads());
  }
  CHECK(levels == (std::vector<int>{12, 9, 6, 4, 3, 2, 1}));
}

// Ten seconds in which a second thread always costs 6 ms: attempts become rare.
PAGODA_TEST(base_thread_level_tries_again_at_growing_intervals) {
  ThreadLevel level(2);
  int num_attempts = 0;
  for (int64_t now = 0; now < 10000 * kMs; now += 6 * kMs) {
    level.try_raise(now);
    if (level.threads() == 1) continue;
    ++num_attempts;
    level.add(-6 * kMs, now);
  }
  CHECK(num_attempts >= 8 && num_attempts <= 14);
  // The machine becomes idle: all threads are back after the next attempt, and stay.
  for (int64_t now = 10000 * kMs; now < 13000 * kMs; now += kMs) {
    level.try_raise(now);
    level.add(kMs / 2, now);
  }
  CHECK_EQ(level.threads(), 2);
}

PAGODA_TEST(base_thread_level_raises_step_by_step_while_attempts_last) {
  ThreadLevel level(16);
  for (int i = 0; i < 7; ++i) level.add(-5 * kMs, 0);
  REQUIRE(level.threads() == 1);
  int64_t now = 0;
  for (; level.is_lowered() && now < 1000 * kMs; now += kMs) level.try_raise(now);
  CHECK_EQ(level.threads(), 16);
  CHECK(now <= 250 * kMs);
  level.try_raise(now + 1000 * kMs);
  CHECK_EQ(level.threads(), 16);
}

namespace {

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

PAGODA_TEST(base_thread_count_follows_cgroup_2) {
  const std::string root = test::temporary_dir(), groups = root + "/sys/fs/cgroup";
  CHECK_EQ(cgroup_cores(root), 0.0);  // no such files
  write(root + "/proc/self/cgroup", "0::/box/inner\n");
  CHECK_EQ(cgroup_cores(root), 0.0);
  write(groups + "/box/inner/cpu.max", "max 100000\n");
  CHECK_EQ(cgroup_cores(root), 0.0);
  write(groups + "/box/cpu.max", "150000 100000\n");  // a parent's quota holds too
  CHECK_EQ(cgroup_cores(root), 1.5);
  write(groups + "/box/inner/cpu.max", "400000 100000\n");
  CHECK_EQ(cgroup_cores(root), 1.5);
  write(groups + "/box/inner/cpu.max", "5000 10000\n");
  CHECK_EQ(cgroup_cores(root), 0.5);
  for (const char* text : {"", "x y", "100000", "0 0", "-1 100000", "100000 0", "nan 1", "1e999 1"}) {
    write(groups + "/box/inner/cpu.max", text);
    CHECK_EQ(cgroup_cores(root), 1.5);
  }
  write(root + "/proc/self/cgroup", "0::/not/mounted/here\n");  // as containers see the host's path
  write(groups + "/cpu.max", "200000 100000\n");
  CHECK_EQ(cgroup_cores(root), 2.0);
}

PAGODA_TEST(base_thread_count_follows_cgroup_1) {
  const std::string root = test::temporary_dir(), groups = root + "/sys/fs/cgroup";
  write(root + "/proc/self/cgroup", "bad line\n4:memory:/box\n3:cpu,cpuacct:/box\n2:cpuset:/\n0::/\n");
  write(groups + "/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write(groups + "/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write(groups + "/cpuset/cpu.cfs_quota_us", "1\n");  // not this controller
  CHECK_EQ(cgroup_cores(root), 0.0);
  write(groups + "/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  CHECK_EQ(cgroup_cores(root), 0.0);  // without a period
  write(groups + "/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  CHECK_EQ(cgroup_cores(root), 3.0);
  write(root + "/proc/self/cgroup", "3:cpuacct,cpu:/box\n");  // the folder has the other order
  CHECK_EQ(cgroup_cores(root), 0.0);
  std::filesystem::create_directory_symlink("cpu,cpuacct", groups + "/cpu");
  CHECK_EQ(cgroup_cores(root), 3.0);
}

PAGODA_TEST(base_thread_count_is_at_least_one_and_at_most_the_machine) {
  CHECK(usable_cores() >= 1);
  CHECK(usable_cores() <= static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

}  // namespace pagoda
