// The vision tower and the positions of image tokens match transformers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "device/rig.h"
#include "model/layers/rope.h"
#include "model/vision/tower.h"
#include "model/vision_fixtures.h"
#include "request/image_span.h"

namespace pagoda::test {
namespace {

constexpr double kTowerTolerance = 2e-4;

std::string tower_folder(const std::string& name) { return fixtures_dir() + "/vision/towers/" + name; }

std::unique_ptr<model::VisionTower> load_tower(const std::string& name, const std::string& device,
                                               WeightFormat format = WeightFormat::f32, int32_t max_tokens = 100) {
  auto opened = open_model(folder(tower_folder(name)));
  CHECK_OK(opened);
  auto made = device::make_device(device, 2);
  if (!opened.is_ok() || !made.is_ok()) return nullptr;
  model::find_vision_tower(*opened->checkpoint, opened->config);
  CHECK_EQ(opened->config.vision.refusal, std::string());
  auto tower =
      model::VisionTower::load(opened->config.vision, *opened->checkpoint, std::move(*made), format, max_tokens);
  CHECK_OK(tower);
  return tower.is_ok() ? std::move(*tower) : nullptr;
}

std::vector<float> rows_of(model::VisionTower& tower, const PreparedImage& image) {
  std::vector<float> rows(static_cast<size_t>(image.num_tokens()) *
                          static_cast<size_t>(tower.config().out_hidden_size));
  CHECK_OK(tower.begin(image, rows));
  int64_t num_parts = 1;
  for (;; ++num_parts) {
    const Result<bool> done = tower.advance();
    CHECK_OK(done);
    if (!done.is_ok() || *done) break;
  }
  CHECK_EQ(num_parts, tower.num_parts(image.num_patches()));
  return rows;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  CHECK_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(double{a[i]} - b[i]);
    if (!(difference <= worst)) worst = difference;  // NaN is worst
  }
  return worst;
}

// A tower and its images, `use`d one by one with the expected rows.
template <class Use>
void for_each_image(const std::string& name, const io::VisionConfig& config, Use&& use) {
  auto expected = open_tensors(tower_folder(name) + "/expected");
  CHECK_OK(expected);
  if (!expected.is_ok()) return;
  int count = 0;
  for (;; ++count) {
    const std::string number = std::to_string(count);
    const PreparedImage image = image_of(*expected, "pixels." + number, config);
    if (image.num_tokens() == 0) break;
    use(image, tensor_values<float>(*expected, "rows." + number));
  }
  CHECK(count >= 2);
}

}  // namespace

PAGODA_TEST(vision_positions_match_get_rope_index) {
  auto files = io::open_model_files(folder(fixtures_dir() + "/vision"));
  REQUIRE_OK(files);
  auto text = (*files)->read_text("positions.json", 1 << 20);
  REQUIRE_OK(text);
  auto layouts = io::parse_json(*text);
  REQUIRE_OK(layouts);
  CHECK_EQ(layouts->items().size(), size_t{50});
  size_t num_images = 0;
  for (const io::Json& layout : layouts->items()) {
    std::vector<request::ImageSpan> images;
    int32_t end = 0, position = 0;
    for (const io::Json& image : layout.find("images")->items()) {
      const auto number = [&](size_t i) { return static_cast<int32_t>(image.items()[i].as_integer()); };
      position += number(0) - end;
      images.push_back({.begin = number(0), .height = number(1), .width = number(2), .position = position});
      position = images.back().next_position();
      end = images.back().end();
    }
    num_images += images.size();
    const auto& wanted = layout.find("positions")->items();
    for (size_t i = 0; i < wanted[0].items().size(); ++i) {
      const auto at = [&](size_t axis) { return static_cast<int32_t>(wanted[axis].items()[i].as_integer()); };
      const request::RopeCoordinates found = request::rope_coordinates(images, static_cast<int32_t>(i));
      CHECK(found == (request::RopeCoordinates{at(0), at(1), at(2)}));
    }
  }
  CHECK(num_images > 50);
}

PAGODA_TEST(vision_frequencies_belong_to_one_coordinate_each) {
  io::ModelConfig config;
  config.context_length = 64;
  config.rope.rotary_dim = 64;
  config.rope.theta = 1e7;
  config.vision.depth = 1;
  config.vision.sections = {11, 11, 10};
  const std::vector<float> table = model::rope_table(config.rope, config);
  CHECK_EQ(model::num_table_rows(config.rope, config), int64_t{4});
  REQUIRE(table.size() == 4 * 32);
  int counts[3] = {};
  for (size_t j = 0; j < 32; ++j) {
    const size_t owner = j % 3 == 1 && j < 33 ? 1 : (j % 3 == 2 && j < 30 ? 2 : 0);
    ++counts[owner];
    for (size_t axis = 0; axis < 3; ++axis) CHECK_EQ(table[(axis + 1) * 32 + j], axis == owner ? table[j] : 0.0f);
  }
  CHECK(counts[0] == 11 && counts[1] == 11 && counts[2] == 10);
}

PAGODA_TEST(vision_tower_matches_transformers) {
  for (const char* name : {"heads_of_64", "heads_of_72", "heads_of_20"})
    for (const std::string& device : selected_devices()) {
      if (runs_kernels(device) && std::string(name) == "heads_of_20") continue;  // its tower runs on the CPU
      auto tower = load_tower(name, device);
      REQUIRE(tower != nullptr);
      for_each_image(name, tower->config(), [&](const PreparedImage& image, const std::vector<float>& expected) {
        const double worst = largest_difference(rows_of(*tower, image), expected);
        note(std::string(name) + " on " + device + ": " + std::to_string(worst));
        CHECK(worst <= kTowerTolerance);
      });
    }
}

// Rows are of order 1.
static void check_near_transformers(WeightFormat format, double tolerance) {
  for (const char* name : {"heads_of_64", "heads_of_72"})
    for (const std::string& device : device::device_names()) {
      if (device != "cpu" && !runs_kernels(device)) continue;
      auto tower = load_tower(name, device, format);
      REQUIRE(tower != nullptr);
      for_each_image(name, tower->config(), [&](const PreparedImage& image, const std::vector<float>& expected) {
        const double worst = largest_difference(rows_of(*tower, image), expected);
        note(std::string(name) + " on " + device + ": " + std::to_string(worst));
        CHECK(worst <= tolerance);
      });
    }
}

// Weights and the cache of keys and values have 8 bits of precision.
PAGODA_TEST(vision_tower_in_bf16_stays_near_transformers) { check_near_transformers(WeightFormat::bf16, 0.1); }
PAGODA_TEST(vision_tower_in_8_bit_stays_near_transformers) { check_near_transformers(WeightFormat::q8, 0.15); }

static void check_same_bits_after_other_images(WeightFormat format) {
  for (const std::string& device : device::device_names()) {
    if (device != "cpu" && !runs_kernels(device)) continue;
    auto tower = load_tower("heads_of_64", device, format);
    auto smaller = load_tower("heads_of_64", device, format, 90);
    REQUIRE(tower != nullptr && smaller != nullptr);
    std::vector<std::vector<float>> first;
    for (int round = 0; round < 2; ++round) {
      size_t index = 0;
      for_each_image("heads_of_64", tower->config(), [&](const PreparedImage& image, const std::vector<float>&) {
        const std::vector<float> rows = rows_of(round == 0 ? *tower : *smaller, image);
        if (round == 0) first.push_back(rows);
        else CHECK(first[index] == rows && rows == rows_of(*tower, image));
        ++index;
      });
    }
  }
}

PAGODA_TEST(vision_tower_gives_the_same_bits_after_other_images) {
  check_same_bits_after_other_images(WeightFormat::f32);
}
PAGODA_TEST(vision_tower_in_8_bit_gives_the_same_bits_after_other_images) {
  check_same_bits_after_other_images(WeightFormat::q8);
}

PAGODA_TEST(vision_tower_refuses_images_that_do_not_fit) {
  auto tower = load_tower("heads_of_64", "cpu", WeightFormat::f32, 5);
  REQUIRE(tower != nullptr);
  CHECK(tower->check({}).message.find("the image is empty") == 0);
  bool was_large = false;
  for_each_image("heads_of_64", tower->config(), [&](const PreparedImage& image, const std::vector<float>&) {
    if (image.num_tokens() <= 5) {
      CHECK_OK(tower->check(image));
      return;
    }
    was_large = true;
    CHECK(tower->check(image).message.find("the limit is 5") != std::string::npos);
  });
  CHECK(was_large);
  const std::vector<uint8_t> pixels(64 * 64 * 3);
  ImageOptions options;
  options.min_pixels = 1;
  const PreparedImageResult other = prepare_image(pixels.data(), static_cast<int64_t>(pixels.size()), 64, 64, options);
  CHECK_OK(other.status);
  CHECK(tower->check(other.image).message.find("patches of 1536 numbers") != std::string::npos);
}

// Neither the first nor the fourth token of an image is enough to be sure of it.
PAGODA_TEST(vision_keys_differ_and_short_matches_are_not_trusted) {
  const ImageIdentity one{1, 2}, other{1, 3};
  int num_equal = 0;
  for (int32_t i = 0; i < 1000; ++i) {
    CHECK(request::is_image_key(request::image_key(one, i)));
    num_equal += i % 2 == 1 && request::image_key(one, i) == request::image_key(other, i);
  }
  CHECK_EQ(num_equal, 0);
  const std::vector<int32_t> tokens = {5, 6, -7, -8, -9, -10, -11, -12, 3};
  const int32_t wanted[] = {0, 1, 2, 2, 2, 2, 6, 7, 8, 9};
  for (int32_t count = 0; count < 10; ++count) CHECK_EQ(request::sure_length(tokens, count), wanted[count]);
}

}  // namespace pagoda::test
