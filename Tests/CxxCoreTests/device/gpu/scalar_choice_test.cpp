// Few rows are multiplied without matrix units only where a trial finds the same bits and less time; the verdict is
// kept.
#include <filesystem>

#include "device/gpu/gpu_device.h"
#include "device/gpu/scalar_part.h"
#include "device/registry.h"
#include "device/trial/product_choice.h"
#include "support/test.h"

namespace pagoda::device::gpu {
namespace {

using Plays = ScalarPart::Plays;
constexpr ProductShape kAll[] = {
    {.rows = 8, .cols = 64, .format = WeightFormat::q4},   {.rows = 4, .cols = 64, .format = WeightFormat::q4},
    {.rows = 8, .cols = 64, .format = WeightFormat::f16},  {.rows = 8, .cols = 64, .format = WeightFormat::q8},
    {.rows = 8, .cols = 64, .format = WeightFormat::bf16}, {.rows = 8, .cols = 64, .format = WeightFormat::f32}};
constexpr std::span<const ProductShape> kOne = std::span(kAll).first(1);
// The forms of formats of files: two levels with minima, one level, groups of 16.
constexpr ProductShape kFiles[] = {{.rows = 8, .cols = 256, .format = weight_format(QuantId::q4_k)},
                                   {.rows = 8, .cols = 256, .format = weight_format(QuantId::q8_0)},
                                   {.rows = 8, .cols = 256, .format = weight_format(QuantId::q6_k)}};

struct Stage {
  double seconds = 0;
  ProductOptions options;

  explicit Stage(const std::string& name) {
    options.verdict_folder = test::temporary_dir() + "/scalars_" + name;
    std::filesystem::remove_all(options.verdict_folder);
    options.may_try = true;
    options.trial = {.seconds = [this] { return seconds; }, .rounds = 1, .timed_rows = 64};
  }
  // The end of the device's description.
  std::string play(Plays plays, std::span<const ProductShape> shapes = kOne) {
    auto inner = software::SoftwareBackend::create();
    if (!inner.is_ok()) return inner.status.message;
    const std::string before = (*inner)->info().description;
    auto device = make_gpu_device(std::make_unique<ScalarPart>(std::move(*inner), plays, seconds));
    choose_products(*device, shapes, options);
    const std::string& after = device->info().description;
    CHECK(after.starts_with(before));
    return after.substr(before.size());
  }
};

}  // namespace

// The emulated units add in order, so that the trial passes for every format.
PAGODA_TEST(gpu_scalar_choice_uses_kernels_that_pass_and_caches_the_result) {
  Stage stage("passes");
  stage.options.may_try = false;
  CHECK_EQ(stage.play(Plays::well, kAll), std::string(", scalar units not tried yet"));
  stage.options.may_try = true;
  const std::string found = stage.play(Plays::well, kAll);
  CHECK_EQ(found, std::string(", few rows on scalar units: 0.50 of the time of matrix units"));
  const double tried = stage.seconds;
  CHECK_EQ(stage.play(Plays::in_other_order, kAll), found);  // not tried again
  CHECK_EQ(stage.seconds, tried);
  stage.options.may_try = false;
  CHECK_EQ(stage.play(Plays::well, kAll), found);
  CHECK_EQ(stage.play(Plays::well, kOne), std::string(", scalar units not tried yet"));  // other formats
}

PAGODA_TEST(gpu_scalar_choice_rejects_other_bits_and_slower_kernels_with_a_reason) {
  const struct {
    Plays plays;
    const char* reason;
  } cases[] = {
      {Plays::in_other_order, "usual numbers times 4bit weights of 0 exponents: 1 rows have other bits"},
      {Plays::otherwise_tiny, "denormals times 4bit weights of 0 exponents: 1 rows have other bits"},
      {Plays::slowly, "2.00 of the time of matrix units"},
      {Plays::not_at_all, "does not compile:   1 | static_assert failed"},
  };
  for (const auto& [plays, reason] : cases) {
    Stage stage("wrong");
    const std::string found = stage.play(plays);
    CHECK(found.starts_with(", scalar units not used: "));
    if (found.find(reason) == std::string::npos) test::fail(__FILE__, __LINE__, found + ", not " + reason);
    CHECK_EQ(stage.play(Plays::well), found);  // a machine does not change its mind
  }
}

PAGODA_TEST(gpu_scalar_choice_tries_formats_of_files) {
  Stage stage("files");
  CHECK_EQ(stage.play(Plays::well, kFiles),
           std::string(", few rows on scalar units: 0.50 of the time of matrix units"));
  for (const ProductShape& shape : kFiles) {
    Stage other("files_in_other_order");
    const std::string found = other.play(Plays::in_other_order, std::span(&shape, 1));
    CHECK(found.find("usual numbers times " + std::string(weight_format_name(shape.format)) +
                     " weights of 0 exponents: 1 rows have other bits") != std::string::npos);
  }
}

PAGODA_TEST(gpu_scalar_choice_tries_again_after_a_lack_of_memory) {
  Stage stage("memory");
  CHECK(stage.play(Plays::without_memory).starts_with(", scalar units not used: "));
  CHECK(stage.play(Plays::well).starts_with(", few rows on scalar units: "));
}

PAGODA_TEST(gpu_scalar_choice_is_none_where_the_answer_is_known) {
  Stage stage("known");
  auto software = make_device("software", 1);
  REQUIRE(software.is_ok());
  const std::string before = (*software)->info().description;
  choose_products(**software, kAll, stage.options);
  CHECK_EQ((*software)->info().description, before);
  CHECK_EQ(stage.play(Plays::well, std::span(kAll).last(1)), std::string());  // f32
}

}  // namespace pagoda::device::gpu
