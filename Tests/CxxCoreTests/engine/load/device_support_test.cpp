// Devices at load: what they cannot run is refused, and matrix units are tried once.
#include "device/support.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device/gpu/software/options.h"
#include "device/registry.h"
#include "engine/load/load_options.h"

namespace pagoda::engine {

using test::cpu_options;
using test::mini;

PAGODA_TEST(engine_models_that_a_device_cannot_run_are_refused_at_load) {
  const std::string folder = test::temporary_dir() + "/wide_heads";
  std::filesystem::copy(test::mini_model_dir(), folder, std::filesystem::copy_options::recursive);
  std::ifstream file(test::mini_model_dir() + "/config.json");
  std::string config{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string heads = "\"head_dim\": 256";
  REQUIRE(config.find(heads) != config.npos);
  std::ofstream(folder + "/config.json") << config.replace(config.find(heads), heads.size(), "\"head_dim\": 264");
  EngineOptions options = cpu_options();
  options.device = "software";
  for (const Status& status : {inspect({folder, {}}, options).status, load({folder, {}}, options, nullptr).status}) {
    CHECK(status.code == StatusCode::unsupported);
    CHECK(status.message.find("software") != std::string::npos && status.message.find("not 264") != std::string::npos);
  }
}

PAGODA_TEST(engine_devices_say_what_sizes_they_have_kernels_for) {
  const auto cpu = device::make_device("cpu", 1), software = device::make_device("software", 1);
  REQUIRE_OK(cpu);
  REQUIRE_OK(software);
  const device::KernelNeeds good{.block_size = 32, .head_dim = 256, .k_dim = 256};
  device::KernelNeeds keys = good, heads = good, odd = good, cache = good, latents = good, streams = good;
  streams.has_streams = true;
  latents.latent_dim = 580;
  latents.latent_value_dim = 512;
  keys.k_dim = 257;
  heads.head_dim = 264;
  odd.head_dim = 20;
  cache.block_size = 12;
  CHECK_OK(device::check_support(**software, good));
  for (const device::KernelNeeds& needs : {keys, heads, odd, cache, latents, streams}) {
    CHECK(device::check_support(**software, needs).code == StatusCode::unsupported);
    CHECK_OK(device::check_support(**cpu, needs));
  }
  latents.latent_dim = 576;
  CHECK_OK(device::check_support(**software, latents));
  cache.head_dim = 0;  // no attention, so no cache either
  CHECK_OK(device::check_support(**software, cache));
}

// On a device that claims matrix units, the first load tries them with the model's shapes; later loads and `info` reuse
// the result.
PAGODA_TEST(engine_load_tries_matrix_units_once) {
  const std::string folder = test::temporary_dir() + "/tried";
  std::filesystem::remove_all(folder);
  const char* caches = std::getenv("XDG_CACHE_HOME");
  const std::string before = caches ? caches : "";
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  device::gpu::software::installed_options().has_tensor_units = true;
  EngineOptions options = cpu_options();
  options.device = "software";
  options.dtype = "bfloat16";
  const ModelSource small{test::fixtures_dir() + "/model/qwen3_yarn", {}};
  const auto untried = inspect(small, options);
  const auto first = load(small, options, nullptr), second = load(small, options, nullptr);
  const auto tried = inspect(small, options);
  device::gpu::software::installed_options().has_tensor_units = false;
  if (caches) setenv("XDG_CACHE_HOME", before.c_str(), 1);
  else unsetenv("XDG_CACHE_HOME");
  for (const Status& status : {untried.status, first.status, second.status, tried.status}) CHECK_OK(status);
  REQUIRE(untried.is_ok() && first.is_ok() && second.is_ok() && tried.is_ok());
  CHECK(untried->device.ends_with(", tensor units not tried yet"));
  const std::string& found = first->info.device;
  CHECK(found.ends_with(" of the time of the usual kernels"));  // whichever kernel was chosen
  CHECK_EQ(second->info.device, found);
  CHECK_EQ(tried->device, found);
}

}  // namespace pagoda::engine
