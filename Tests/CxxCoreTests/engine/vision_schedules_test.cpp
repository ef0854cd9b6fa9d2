// R1 with images: the same bits alone, batched, chunked, preempted, resumed from the prefix cache and with drafts.
#include <memory>
#include <random>
#include <vector>

#include "device/registry.h"
#include "device/rig.h"
#include "engine/schedules.h"
#include "engine/vision_answers.h"

namespace pagoda::engine {
namespace {

std::vector<PreparedImage> images_of(const test::VisionAnswers& answers) {
  return {answers.image(1, 0), answers.image(3, 0), answers.image(3, 1), answers.image(3, 2)};
}

// Afterwards the tower's results are cached. A request waits for the tower while others run: with the kernels on the
// host, so long that hardly any two run at once.
void see_images(Harness& harness, const std::vector<PreparedImage>& images) {
  uint64_t id = 1000;
  for (const PreparedImage& image : images) {
    Request request;
    request.prompt_ids.assign(static_cast<size_t>(image.num_tokens()) + 1, 116);
    request.images.push_back({0, image});
    request.sampling.max_tokens = 1;
    request.use_cache = false;
    Recorder recorder;
    test::run(harness, request, ++id, recorder);
    CHECK_OK(recorder.status);
  }
}

// Texts between up to three images of a few; every second one continues another's prompt and answer.
std::vector<std::unique_ptr<Expected>> run_images_solo(const test::VisionAnswers& answers, std::mt19937_64& rng,
                                                       const Form& form) {
  std::vector<std::unique_ptr<Expected>> all;
  EngineOptions options = options_for(1, form);
  options.prefix_cache = false;
  options.speculation = "off";
  auto harness = Harness::open(answers.path, options);
  if (!harness) return all;
  const std::vector<PreparedImage> images = images_of(answers);
  for (int i = 0; i < 12; ++i) {
    auto expected = std::make_unique<Expected>();
    Request& request = expected->request;
    request = random_request(rng, 100, 1 + static_cast<int>(rng() % 20), 1 + static_cast<int>(rng() % 32));
    if (i % 2 == 1) {
      const Expected& other = *all[rng() % all.size()];
      std::vector<int32_t> turns = other.request.prompt_ids;
      turns.insert(turns.end(), other.solo.tokens.begin(), other.solo.tokens.end());
      if (turns.size() < 90) request.prompt_ids = turns, request.images = other.request.images;
    }
    for (uint64_t count = rng() % 3; count > 0 && request.prompt_ids.size() < 90; --count) {
      const PreparedImage& image = images[rng() % images.size()];
      request.images.push_back({static_cast<int32_t>(request.prompt_ids.size()), image});
      request.prompt_ids.insert(request.prompt_ids.end(), static_cast<size_t>(image.num_tokens()), 116);
      for (uint64_t more = rng() % 9 + 1; more > 0; --more)
        request.prompt_ids.push_back(static_cast<int32_t>(rng() % 100));
    }
    test::run(*harness, request, static_cast<uint64_t>(i + 1), expected->solo);
    CHECK_OK(expected->solo.status);
    all.push_back(std::move(expected));
  }
  return all;
}

void check_image_schedules(int num_schedules, uint64_t fallback_seed, const Form& form, const std::string& model = "") {
  const auto answers = test::VisionAnswers::open(model);
  REQUIRE(answers.has_value());
  const uint64_t first = test::seed(fallback_seed);
  std::mt19937_64 rng(first);
  const auto all = run_images_solo(*answers, rng, form);
  REQUIRE(all.size() == 12);
  Reach reach;
  const auto is_enough = [&](int done) {
    return done >= 10 * num_schedules || (done >= num_schedules && reach.num_preemptions > 0 && reach.num_hits > 0);
  };
  for (int i = 0; !is_enough(i) && !test::failed(); ++i) {
    const auto prepare = [&](Harness& harness) {
      if (i % 2 == 0) see_images(harness, images_of(*answers));
    };
    run_schedule(answers->path, all, first + static_cast<uint64_t>(i), form, reach, prepare);
    if (test::failed()) test::note("schedule " + std::to_string(first + static_cast<uint64_t>(i)));
  }
  CHECK(reach.num_compared > num_schedules);
  CHECK(reach.num_preemptions > 0);
  CHECK(reach.num_hits > 0);
  CHECK_EQ(reach.num_accepted > 0, form.drafts || form.own_drafts);
}

}  // namespace

PAGODA_TEST(vision_same_bits_in_random_schedules) { check_image_schedules(40, 71, {}); }
PAGODA_TEST(vision_same_bits_in_random_schedules_in_8_bit) {
  check_image_schedules(15, 72, {.quantize = "8bit", .kv_dtype = "int8"});
}
PAGODA_TEST(vision_same_bits_in_random_schedules_with_drafts) { check_image_schedules(20, 73, {.drafts = true}); }
PAGODA_TEST(vision_same_bits_in_random_schedules_with_the_mtp_head) {
  check_image_schedules(20, 74, {.own_drafts = true});
}
PAGODA_TEST(vision_same_bits_in_random_schedules_of_qwen3_vl) {
  for (const std::string& name : test::kQwen3Vl) check_image_schedules(20, 76, {}, name);
}
PAGODA_TEST(vision_same_bits_in_random_schedules_of_the_kernels) {
  for (const std::string& name : device::device_names())
    if (test::runs_kernels(name)) {
      check_image_schedules(2, 75, {.device = name, .quantize = "bf16"});
      check_image_schedules(1, 77, {.device = name, .quantize = "bf16"}, "qwen3_vl");
    }
}

}  // namespace pagoda::engine
