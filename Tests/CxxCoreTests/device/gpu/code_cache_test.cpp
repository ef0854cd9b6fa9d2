// The CUDA compiler's code cache: compiled code is found again, and anything else is recompiled.
#include "device/gpu/cuda/code_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "device/gpu/cuda/compiler.h"
#include "device/gpu/cuda/fake_cuda.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

namespace fs = std::filesystem;
using namespace device::gpu;
using device::gpu::cuda::CodeCache;
using device::gpu::cuda::Compiler;

constexpr ConstantInfo kConstants[] = {{"limit", 0, ConstantType::uint_}};
constexpr KernelInfo kKernel = {"adder", "adders", {}, kConstants, 256};

// The number of compiler runs for these arguments; the code is correct in any case.
int64_t num_compiled(const std::string& folder, int minor = 0, const char* text = "text", uint32_t limit = 1) {
  fake_cuda().diary.clear();
  const Compiler compiler(fake_nvrtc(), 9, minor, CodeCache(folder));
  const Constant constants[] = {{"limit", limit}};
  const auto code = compiler.compile(kKernel, {"adders", text, {}}, constants);
  CHECK_OK(code);
  CHECK(code.is_ok() && std::string(code->begin(), code->end()) == "code");
  return static_cast<int64_t>(fake_cuda().diary.size());
}

std::vector<fs::path> files_of(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// A folder that contains the code of one kernel.
struct Kept {
  std::string folder = temporary_dir() + "/code/deep";
  fs::path path;
  Kept() {
    fake_cuda() = {};
    CHECK_EQ(num_compiled(folder), 1);
    const auto files = files_of(folder);
    CHECK_EQ(files.size(), size_t{1});
    if (!files.empty()) path = files[0];
  }
};

}  // namespace

PAGODA_TEST(cuda_code_cache_keeps_the_most_recently_used_files) {
  const std::string folder = temporary_dir();
  const auto key = [](uint64_t number) { return Hash128Value{1, number}; };
  const auto path = [&](uint64_t number) { return folder + "/" + key(number).text() + ".cubin"; };
  const std::vector<char> code(1000, 'c');
  CodeCache(folder).put(key(1), code);
  const auto size = static_cast<int64_t>(fs::file_size(path(1)));
  const CodeCache cache(folder, 3 * size);
  cache.put(key(2), code);
  write(path(9), "pagoda cubin 0\n" + std::string(1000, 'x'));  // an older file format
  write(folder + "/notes.txt", std::string(9000, 'x'));         // not ours
  cache.put(key(3), code);
  CHECK(!fs::exists(path(9)) && fs::exists(folder + "/notes.txt"));
  for (uint64_t number : {1, 2, 3})
    fs::last_write_time(path(number), fs::file_time_type::clock::now() - std::chrono::hours(9 - number));
  CHECK(cache.find(key(1)) == code);  // the oldest file until now
  cache.put(key(4), code);
  CHECK(cache.find(key(2)).empty());
  for (uint64_t number : {1, 3, 4}) CHECK(cache.find(key(number)) == code);
}

PAGODA_TEST(cuda_code_cache_finds_what_was_compiled_and_nothing_else) {
  const Kept kept;
  struct stat info;
  REQUIRE(stat(kept.path.c_str(), &info) == 0);
  CHECK_EQ(info.st_mode & 0777u, 0600u);
  CHECK_EQ(num_compiled(kept.folder), 0);
  CHECK_EQ(num_compiled(kept.folder, /*minor=*/1), 1);
  CHECK_EQ(num_compiled(kept.folder, 0, "other text"), 1);
  CHECK_EQ(num_compiled(kept.folder, 0, "text", /*limit=*/2), 1);
  fake_cuda().nvrtc_major = 12;
  CHECK_EQ(num_compiled(kept.folder), 1);
  fake_cuda().nvrtc_major = 13;
  CHECK_EQ(num_compiled(kept.folder), 0);
  CHECK_EQ(num_compiled(""), 1);  // without a folder
  CHECK_EQ(files_of(kept.folder).size(), size_t{5});
}

PAGODA_TEST(cuda_code_cache_compiles_again_what_is_damaged) {
  const Kept kept;
  const std::string good = content(kept.path);
  std::mt19937_64 random(seed(91));
  for (size_t size = 0; size < good.size(); ++size) {
    write(kept.path, good.substr(0, size));
    CHECK_EQ(num_compiled(kept.folder), 1);
    CHECK(content(kept.path) == good);  // and repairs the file
  }
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    write(kept.path, bad);
    CHECK_EQ(num_compiled(kept.folder), 1);
  }
  write(kept.path, good + '\0');
  CHECK_EQ(num_compiled(kept.folder), 1);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    for (char& byte : bad) byte = static_cast<char>(random());
    write(kept.path, bad);
    CHECK_EQ(num_compiled(kept.folder), 1);
  }
  CHECK_EQ(num_compiled(kept.folder), 0);
}

PAGODA_TEST(cuda_code_cache_takes_no_file_that_is_not_its_own) {
  const Kept kept;
  const std::string good = content(kept.path);
  CHECK_EQ(num_compiled(kept.folder, 0, "other text"), 1);
  for (const fs::path& path : files_of(kept.folder)) write(path, good);  // valid bytes under another file's name
  CHECK_EQ(num_compiled(kept.folder, 0, "other text"), 1);
  CHECK_EQ(num_compiled(kept.folder), 0);

  fs::permissions(kept.path, fs::perms::owner_all | fs::perms::group_write);
  CHECK_EQ(num_compiled(kept.folder), 1);
  CHECK_EQ(num_compiled(kept.folder), 0);

  fs::rename(kept.path, kept.folder + "/elsewhere");
  fs::create_symlink(kept.folder + "/elsewhere", kept.path);
  CHECK_EQ(num_compiled(kept.folder), 1);
  CHECK(!fs::is_symlink(kept.path));
  fs::remove(kept.path);
  fs::create_directory(kept.path);  // blocks the path permanently
  CHECK_EQ(num_compiled(kept.folder), 1);
  CHECK_EQ(num_compiled(kept.folder), 1);
  for (const fs::path& path : files_of(kept.folder)) CHECK(path.extension() == ".cubin" || path.stem() == "elsewhere");
}

PAGODA_TEST(cuda_code_cache_works_without_its_folder) {
  fake_cuda() = {};
  const std::string file = temporary_dir() + "/not-a-folder";
  write(file, "x");
  for (const std::string& folder : {file, file + "/below", std::string("/proc/pagoda"), std::string("/dev/null/x")}) {
    CHECK_EQ(num_compiled(folder), 1);
    CHECK_EQ(num_compiled(folder), 1);
  }
  const Kept kept;
  fs::permissions(kept.folder, fs::perms::owner_read | fs::perms::owner_exec);
  CHECK_EQ(num_compiled(kept.folder), 0);
  const bool may_write = geteuid() == 0;  // root may write anywhere
  if (may_write) note("run by root: the folder is no obstacle");
  CHECK_EQ(num_compiled(kept.folder, 0, "other text"), 1);
  CHECK_EQ(num_compiled(kept.folder, 0, "other text"), may_write ? 0 : 1);
  fs::permissions(kept.folder, fs::perms::owner_all);
}

PAGODA_TEST(cuda_code_cache_serves_threads_at_once) {
  fake_cuda() = {};
  const std::string folder = temporary_dir() + "/shared";
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const CodeCache cache(folder);
      for (uint64_t i = 0; i < 200; ++i) {
        const Hash128Value key{i % 5, 7};
        const std::vector<char> code(1000 + i % 5, static_cast<char>('a' + i % 5)), found = cache.find(key);
        CHECK(found.empty() || found == code);
        cache.put(key, code);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(files_of(folder).size(), size_t{5});
}

PAGODA_TEST(cuda_code_cache_lies_where_the_user_keeps_caches) {
  const auto with = [](const char* caches, const char* home) {
    const auto set = [](const char* name, const char* value) { value ? setenv(name, value, 1) : unsetenv(name); };
    const char *old_caches = std::getenv("XDG_CACHE_HOME"), *old_home = std::getenv("HOME");
    const std::string kept_caches = old_caches ? old_caches : "", kept_home = old_home ? old_home : "";
    set("XDG_CACHE_HOME", caches), set("HOME", home);
    const std::string folder = CodeCache::user_folder();
    set("XDG_CACHE_HOME", old_caches ? kept_caches.c_str() : nullptr),
        set("HOME", old_home ? kept_home.c_str() : nullptr);
    return folder;
  };
  CHECK_EQ(with("/caches", "/somebody"), "/caches/pagoda/cuda");
  CHECK_EQ(with(nullptr, "/somebody"), "/somebody/.cache/pagoda/cuda");
  CHECK_EQ(with("relative", "/somebody"), "/somebody/.cache/pagoda/cuda");
  CHECK_EQ(with("", nullptr), "");
  CHECK_EQ(with(nullptr, "relative"), "");
}

}  // namespace pagoda::test
