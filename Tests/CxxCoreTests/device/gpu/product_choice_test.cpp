// Kernels for matrix units are used if a trial passes and they save time, and the verdict is kept.
#include "device/product_choice.h"

#include <filesystem>
#include <fstream>

#include "device/gpu/gpu_device.h"
#include "device/gpu/tensor_part.h"
#include "device/registry.h"
#include "support/test.h"

namespace pagoda::device::gpu {
namespace {

using Plays = TensorPart::Plays;
constexpr ProductShape kShapes[] = {{.rows = 70, .cols = 64, .count = 2},
                                    {.rows = 34, .cols = 64, .format = WeightFormat::q8, .silu_mul = true},
                                    {.rows = 5, .cols = 64, .format = WeightFormat::f32},
                                    {.rows = 3, .cols = 64, .is_head = true}};
constexpr std::span<const ProductShape> kOne = std::span(kShapes).last(1);

struct Stage {
  double seconds = 0;
  int num_trials = 0;
  ProductOptions options;

  explicit Stage(const std::string& name) {
    options.verdict_folder = test::temporary_dir() + "/products_" + name;
    std::filesystem::remove_all(options.verdict_folder);
    options.may_try = true;
    options.make_trusted = [this] {
      ++num_trials;
      return make_device("cpu", 1);
    };
    options.trial = {.seconds = [this] { return seconds; }, .rounds = 1};
  }
  // The end of the device's description.
  std::string play(Plays plays, std::span<const ProductShape> shapes = kOne, bool is_wide = false) {
    auto inner = software::SoftwareBackend::create();
    if (!inner.is_ok()) return inner.status.message;
    const std::string before = (*inner)->info().description;
    auto device = make_gpu_device(std::make_unique<TensorPart>(std::move(*inner), plays, seconds, is_wide));
    choose_products(*device, shapes, options);
    const std::string& after = device->info().description;
    CHECK(after.starts_with(before));
    return after.substr(before.size());
  }
};

}  // namespace

PAGODA_TEST(gpu_product_choice_uses_kernels_that_pass_and_caches_the_result) {
  Stage stage("passes");
  stage.options.may_try = false;
  CHECK_EQ(stage.play(Plays::well, kShapes), std::string(", tensor units not tried yet"));
  stage.options.may_try = true;
  const std::string found = stage.play(Plays::well, kShapes);
  CHECK(found.starts_with(", products on tensor units: 0.50 "));
  CHECK_EQ(stage.num_trials, 1);
  // Slower now, but the verdict stays: a machine's bits do not change with its load. `info` shows it too.
  CHECK_EQ(stage.play(Plays::slowly, kShapes), found);
  stage.options.may_try = false;
  CHECK_EQ(stage.play(Plays::well, kShapes), found);
  CHECK_EQ(stage.num_trials, 1);
  // There is no verdict for other shapes.
  CHECK_EQ(stage.play(Plays::well, kOne), std::string(", tensor units not tried yet"));
}

// Products of few rows are the same either way and may take any part of a request's time.
PAGODA_TEST(gpu_product_choice_compares_prompts_alone_if_the_bits_are_the_same) {
  Stage stage("prompts");
  constexpr ProductShape kShape[] = {{.rows = 70, .cols = 64}};
  CHECK(stage.play(Plays::well, kShape, true).starts_with(", products on tensor units: 0.50 "));
  Stage other("whole_requests");
  CHECK(other.play(Plays::slowly, kShape, true).starts_with(", tensor units not used: 2.00 "));
}

PAGODA_TEST(gpu_product_choice_keeps_the_usual_kernels_where_they_are_faster) {
  Stage stage("slower");
  const std::string found = stage.play(Plays::slowly);
  CHECK(found.starts_with(", tensor units not used: 2.00 ") && found.ends_with(" of the time of the usual kernels"));
  CHECK_EQ(stage.play(Plays::well), found);
  CHECK_EQ(stage.num_trials, 1);
}

PAGODA_TEST(gpu_product_choice_rejects_wrong_kernels_with_a_reason) {
  const struct {
    Plays plays;
    const char* reason;
  } cases[] = {
      {Plays::with_the_batch, "row 0 of 1 has other bits than row 0 of 300"},
      {Plays::with_the_row, "row 64 of 300 has other bits than row 27 of 300"},
      {Plays::wrongly, "row 0 is not what the usual kernels give"},
      {Plays::roughly, "row 0 is not what the usual kernels give"},
      {Plays::not_at_all, "does not compile:   1 | static_assert failed"},
  };
  for (const auto& [plays, reason] : cases) {
    Stage stage("wrong");
    const std::string found = stage.play(plays);
    CHECK(found.starts_with(", tensor units not used: "));
    if (found.find(reason) == std::string::npos) test::fail(__FILE__, __LINE__, found + ", not " + reason);
    CHECK_EQ(stage.play(Plays::well), found);
    CHECK_EQ(stage.num_trials, 1);
  }
}

// A kernel that agrees with the usual ones but not with the CPU: then both are wrong.
PAGODA_TEST(gpu_product_choice_asks_the_cpu_too) {
  Stage stage("cpu");
  stage.options.make_trusted = [] {
    static double seconds = 0;
    auto inner = software::SoftwareBackend::create();
    return Result<std::unique_ptr<Device>>(
        make_gpu_device(std::make_unique<TensorPart>(std::move(*inner), Plays::usual_wrongly, seconds)));
  };
  const std::string found = stage.play(Plays::well);
  CHECK(found.ends_with(": row 0 is not what software gives"));
}

PAGODA_TEST(gpu_product_choice_tries_again_after_a_lack_of_memory) {
  Stage stage("memory");
  CHECK(stage.play(Plays::without_memory).starts_with(", tensor units not used: "));
  CHECK(stage.play(Plays::well).starts_with(", products on tensor units: "));
}

PAGODA_TEST(gpu_product_choice_does_not_retry_kernels_that_ended_a_process) {
  Stage stage("ended");
  const std::string kept = stage.options.verdict_folder + "_kept";
  std::filesystem::remove_all(kept);
  stage.options.make_trusted = [&] {  // called when the trial starts
    std::filesystem::copy(stage.options.verdict_folder, kept);
    return make_device("cpu", 1);
  };
  CHECK(stage.play(Plays::well).starts_with(", products on tensor units: "));
  stage.options.verdict_folder = kept;
  CHECK_EQ(stage.play(Plays::well), std::string(", tensor units not used: a trial of them did not end"));
}

PAGODA_TEST(gpu_product_choice_needs_a_folder_for_verdicts) {
  Stage stage("nowhere");
  const std::string said = ", tensor units not used: there is no folder to cache the result in";
  stage.options.verdict_folder = "";
  CHECK_EQ(stage.play(Plays::well), said);
  stage.options.verdict_folder = test::temporary_dir() + "/a_file";
  std::ofstream(stage.options.verdict_folder) << "in the way";
  CHECK_EQ(stage.play(Plays::well), said);
  CHECK_EQ(stage.num_trials, 0);
}

// A kernel that passed in an earlier run but no longer compiles does not make the load fail.
PAGODA_TEST(gpu_product_choice_survives_a_compiler_that_changed_its_mind) {
  Stage stage("changed");
  CHECK(stage.play(Plays::well).starts_with(", products on tensor units: "));
  const std::string found = stage.play(Plays::not_at_all);
  CHECK(found.starts_with(", tensor units not used: they no longer run: "));
  CHECK_EQ(stage.play(Plays::well), found);
  CHECK_EQ(stage.num_trials, 1);
}

PAGODA_TEST(gpu_product_choice_is_none_without_units_or_weights_for_them) {
  Stage stage("none");
  CHECK_EQ(stage.play(Plays::well, std::span(kShapes).subspan(2, 1)), std::string());  // f32
  auto software = make_device("software", 1);
  REQUIRE(software.is_ok());
  const std::string before = (*software)->info().description;
  choose_products(**software, kShapes, stage.options);
  CHECK_EQ((*software)->info().description, before);
  CHECK_EQ(stage.num_trials, 0);
}

}  // namespace pagoda::device::gpu
