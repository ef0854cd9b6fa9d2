// Lets the environment choose the order in which software devices run threads, and writes what each launch of a kernel
// of Shaders/ left in memory, so that Tools/mslc/schedules.sh can compare the bits of one order with those of another.
//   PAGODA_SOFTWARE_ORDER=forward|reverse|shuffled|random  PAGODA_SOFTWARE_SEED=n  PAGODA_SOFTWARE_LOG=file
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "device/gpu/kernel_table.h"
#include "device/gpu/software/checker.h"
#include "device/gpu/software/options.h"

namespace pagoda::device::gpu::software {
namespace {

class Recorder final : public Checker {
 public:
  explicit Recorder(std::FILE* file) : file_(file) {}
  ~Recorder() override { std::fclose(file_); }
  void begin_launch(std::span<const Region>) noexcept override {}
  void end_launch(std::string_view kernel, std::span<const Region> regions) noexcept override {
    if (!find_kernel(generated::files(), kernel)) return;
    std::string line(kernel);
    for (const Region& region : regions) {
      if (!region.written) continue;
      uint64_t hash = 0xcbf29ce484222325u;
      for (const char* p = region.low; p < region.high; ++p) hash = (hash ^ static_cast<uint8_t>(*p)) * 0x100000001b3u;
      line += " " + std::string(region.name) + "=" + std::to_string(hash);
    }
    line += "\n";
    std::fwrite(line.data(), 1, line.size(), file_);  // whole lines: tests run in separate processes
    std::fflush(file_);
  }
  void begin_threadgroup() noexcept override {}
  void add_variable(char*, size_t, const char*) noexcept override {}
  void atomic(void*, size_t, bool) noexcept override {}

 private:
  std::FILE* file_;
};

bool install() {
  const auto env = [](const char* name) { return std::string_view(std::getenv(name) ? std::getenv(name) : ""); };
  const std::string_view order = env("PAGODA_SOFTWARE_ORDER");
  Options& options = installed_options();
  if (order == "reverse") options.order = Order::reverse;
  if (order == "shuffled") options.order = Order::shuffled;
  if (order == "random") options.order = Order::random;
  options.reverse_launches = !order.empty() && order != "forward";
  if (!env("PAGODA_SOFTWARE_SEED").empty())
    options.seed = std::strtoull(env("PAGODA_SOFTWARE_SEED").data(), nullptr, 10);
  if (env("PAGODA_SOFTWARE_LOG").empty()) return false;
  std::FILE* file = std::fopen(env("PAGODA_SOFTWARE_LOG").data(), "a");
  if (!file) return false;
  static Recorder recorder(file);
  installed_checker() = &recorder;
  return true;
}

[[maybe_unused]] const bool installed = install();

}  // namespace
}  // namespace pagoda::device::gpu::software
