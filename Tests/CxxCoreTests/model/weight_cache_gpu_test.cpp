// weight cache on GPUs: the file is the same for memory that the host sees and memory that it does not, and gives the
// same bits.
#include "device/gpu/far_backend.h"
#include "device/gpu/gpu_device.h"
#include "model/weight_cache_runner.h"

namespace pagoda::test {
namespace {

using device::gpu::FarBackend;

std::unique_ptr<device::gpu::software::SoftwareBackend> software_backend() {
  return std::move(*device::gpu::software::SoftwareBackend::create({.num_threads = 1}));
}

std::unique_ptr<device::Device> near_device() { return device::gpu::make_gpu_device(software_backend()); }

FarBackend::Counts counts;
std::unique_ptr<device::Device> far_device() {
  return device::gpu::make_gpu_device(std::make_unique<FarBackend>(software_backend(), counts));
}

}  // namespace

PAGODA_TEST(weight_cache_of_gpus_is_the_same_for_near_and_far_memory) {
  const ModelSource mixed = folder(fixtures_dir() + "/gguf/stored/k_mix.gguf");
  for (const auto& [source, format] : {std::pair(fixture(), WeightFormat::f32),
                                       {fixture(), WeightFormat::bf16},
                                       {fixture(), WeightFormat::q8},
                                       {fixture(), WeightFormat::q4},
                                       {mixed, WeightFormat::stored}}) {
    note(std::string(weight_format_name(format)));
    const auto load = [&](const std::string& folder, auto make_device) {
      const auto loaded = run_cached(
          {.source = source, .cache = {.folder = folder, .note = {}}, .format = format, .make_device = make_device});
      CHECK_OK(loaded);
      return loaded.is_ok() ? *loaded : Load{};
    };
    const std::string by_near = temporary_dir(), by_far = temporary_dir();
    const Load plain = load("", near_device);
    CHECK(load(by_near, near_device).was_written());
    counts = {};
    CHECK(load(by_far, far_device).was_written());
    const std::vector<std::string> near_files = files_in(by_near), far_files = files_in(by_far);
    REQUIRE(near_files.size() == 1 && far_files.size() == 1);
    CHECK_EQ(std::filesystem::path(near_files[0]).filename().string(),
             std::filesystem::path(far_files[0]).filename().string());
    CHECK(read_file(near_files[0]) == read_file(far_files[0]));
    CHECK(counts.downloaded_bytes > 0);
    for (const auto make_device : {near_device, far_device}) {
      const Load cached = load(by_far, make_device);
      CHECK(cached.was_cached() && same_bits(plain.logits, cached.logits));
      CHECK_EQ(cached.num_adopted, plain.num_made);
    }
  }
}

// The CPU's file and the GPU's are different ones, and a device that computes nothing has none.
PAGODA_TEST(weight_cache_of_gpus_is_apart_from_the_cpus) {
  const std::string cache = temporary_dir();
  for (const auto& make_device : {std::function<std::unique_ptr<device::Device>()>(), {near_device}}) {
    const auto loaded =
        run_cached({.source = fixture(), .cache = {.folder = cache, .note = {}}, .make_device = make_device});
    REQUIRE_OK(loaded);
    CHECK(loaded->was_written());
  }
  CHECK_EQ(files_in(cache).size(), size_t{2});
  const auto dry = device::make_device("dry", 1);
  REQUIRE_OK(dry);
  CHECK_EQ((*dry)->weight_layout(WeightFormat::q8), std::string());
  const auto device = near_device();
  CHECK(device->repacks(WeightFormat::q8) && device->repacks(weight_format(QuantId::q4_k)));
  CHECK(!device->repacks(WeightFormat::f32) && !device->repacks(WeightFormat::bf16));
}

}  // namespace pagoda::test
