// `--device auto`: a GPU is selected if it agrees with the CPU, and the wait for it is bounded.
#include "device/auto_device.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "device/registry.h"
#include "device/self_test.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using device::AutoCandidate;
using device::AutoOptions;
using device::Device;
using Made = Result<std::unique_ptr<Device>>;

Made make_cpu() { return device::make_device("cpu", 1); }
Made make_software() { return device::make_device("software", 2); }

}  // namespace

PAGODA_TEST(auto_device_self_test_passes_where_kernels_are_right) {
  auto software = make_software(), reference = device::make_device("reference", 1);
  REQUIRE(software.is_ok());
  REQUIRE(reference.is_ok());
  CHECK_OK(device::self_test(**software, **reference));
}

PAGODA_TEST(auto_device_takes_the_first_that_passes_and_remembers_it) {
  const std::string folder = temporary_dir() + "/verdicts";
  std::filesystem::remove_all(folder);
  std::atomic<int> num_trusted = 0;
  const auto trusted = [&]() -> Made {
    ++num_trusted;
    return make_cpu();
  };
  const auto absent = []() -> Made { return make_error(StatusCode::unsupported, "absent: not here"); };
  const std::vector<AutoCandidate> candidates = {{"absent", absent, "1"}, {"software", make_software, "1"}};
  for (int start = 0; start < 2; ++start) {
    const auto choice = device::choose_device(candidates, trusted, {.verdict_folder = folder});
    REQUIRE(choice.device != nullptr);
    CHECK_EQ(choice.device->info().name, std::string("software"));
    CHECK_EQ(num_trusted.load(), 1);  // the second start finds the verdict of the first
  }
  const std::vector<AutoCandidate> newer = {{"software", make_software, "2"}};
  CHECK(device::choose_device(newer, trusted, {.verdict_folder = folder}).device != nullptr);
  CHECK_EQ(num_trusted.load(), 2);  // there is no verdict for other kernels
}

PAGODA_TEST(auto_device_says_why_a_gpu_was_not_taken) {
  for (const StatusCode code : {StatusCode::device_error, StatusCode::unsupported}) {
    const auto broken = [code]() -> Made { return make_error(code, "gpu: older than the M1"); };
    const std::vector<AutoCandidate> candidates = {{"gpu", broken, "1"}};
    const auto choice = device::choose_device(candidates, make_cpu, {});
    CHECK(choice.device == nullptr);
    CHECK_EQ(choice.reason, std::string("gpu: older than the M1"));
  }
}

PAGODA_TEST(auto_device_skips_a_gpu_without_the_kernels_of_the_model) {
  const std::vector<AutoCandidate> candidates = {{"software", make_software, "1"}};
  AutoOptions options;
  options.needs = {.head_dim = 264};
  const auto choice = device::choose_device(candidates, make_cpu, options);
  CHECK(choice.device == nullptr);
  CHECK(choice.reason.starts_with("software cannot run this model: "));
  options.needs = {.head_dim = 256};  // Gemma 3: scaled embeddings and GELU are no obstacle
  CHECK(device::choose_device(candidates, make_cpu, options).device != nullptr);
}

PAGODA_TEST(auto_device_does_not_wait_for_a_driver_that_never_answers) {
  const auto deaf = []() -> Made {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    return make_error(StatusCode::unsupported, "too late");
  };
  const std::vector<AutoCandidate> candidates = {{"deaf", deaf, "1"}};
  const auto choice = device::choose_device(candidates, make_cpu, {.verdict_folder = "", .max_seconds = 0.05});
  CHECK(choice.device == nullptr);
  CHECK_EQ(choice.reason, std::string("deaf did not answer in time"));
}

}  // namespace pagoda::test
