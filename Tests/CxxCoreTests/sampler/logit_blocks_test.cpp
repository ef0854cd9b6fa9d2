// LogitBlocks against plain loops over the row: lengths around a block boundary, ties, impossible tokens.
#include "sampler/logit_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/test.h"

namespace pagoda::test {
namespace {

using sampler::LogitBlocks;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

std::vector<float> random_row(std::mt19937_64& random, size_t size) {
  std::vector<float> row(size);
  std::uniform_int_distribution<int> quarters(-80, 80);  // few distinct numbers, so that there are ties
  for (float& logit : row) logit = random() % 8 == 0 ? kMinusInfinity : static_cast<float>(quarters(random)) * 0.25f;
  row[random() % size] = 1.0f;
  return row;
}

}  // namespace

PAGODA_TEST(sampler_weights_are_powers_of_e) {
  CHECK_EQ(sampler::weight_of(0.0f), 1.0f);
  CHECK_EQ(sampler::weight_of(kMinusInfinity), 0.0f);
  CHECK_EQ(sampler::weight_of(-88.0f), 0.0f);
  for (float x = -86.9f; x < 0.0f; x += 0.0137f) {
    const double exact = std::exp(static_cast<double>(x));
    CHECK(std::abs(static_cast<double>(sampler::weight_of(x)) - exact) <= 3e-7 * exact);
  }
}

PAGODA_TEST(sampler_whole_weights_are_rounded_down) {
  CHECK_EQ(sampler::whole_weight(1.0f), sampler::kWeightOne);
  CHECK_EQ(sampler::whole_weight(0x1p-40f), uint64_t{1});
  CHECK_EQ(sampler::whole_weight(0x1.fffffep-41f), uint64_t{0});
  std::mt19937_64 random(seed(8));
  for (int i = 0; i < 10000; ++i) {
    const float weight = sampler::weight_of(-static_cast<float>(random() % 100000) / 2000);
    CHECK_EQ(sampler::whole_weight(weight), static_cast<uint64_t>(static_cast<double>(weight) * 0x1p40));
  }
}

PAGODA_TEST(sampler_blocks_find_what_a_plain_loop_finds) {
  std::mt19937_64 random(seed(5));
  for (const size_t size : {size_t{1}, size_t{2}, size_t{255}, size_t{256}, size_t{257}, size_t{1000}, size_t{2048}}) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<float> row = random_row(random, size);
      LogitBlocks blocks(size);
      REQUIRE(blocks.survey(row));
      const auto highest = std::max_element(row.begin(), row.end());  // the first among equals
      CHECK_EQ(blocks.highest(), *highest);
      CHECK_EQ(blocks.first_highest(), static_cast<int32_t>(highest - row.begin()));
      for (const size_t count : {size_t{1}, std::min(size, size_t{2}), std::min(size, size_t{5}), size}) {
        const float bound = blocks.reached_by(count);
        CHECK(static_cast<size_t>(std::ranges::count_if(row, [&](float logit) { return logit >= bound; })) >= count);
      }
      std::vector<int32_t> ids, expected;
      blocks.for_each_from(0.25f, [&](int32_t id, float) { ids.push_back(id); });
      for (size_t i = 0; i < size; ++i)
        if (row[i] >= 0.25f) expected.push_back(static_cast<int32_t>(i));
      CHECK(ids == expected);
    }
  }
}

PAGODA_TEST(sampler_blocks_bound_the_weight_of_unlikely_tokens) {
  std::mt19937_64 random(seed(9));
  for (const size_t size : {size_t{1}, size_t{15}, size_t{257}, size_t{4000}}) {
    for (const float temperature : {0.01f, 0.7f, 1.0f, 2.0f, 100.0f}) {
      const std::vector<float> row = random_row(random, size);
      LogitBlocks blocks(size);
      REQUIRE(blocks.survey(row));
      for (const float least : {-19.0f, 0.0f, 12.25f, 50.0f}) {
        uint64_t sum = 0;
        std::vector<int32_t> reached, visited;
        for (size_t id = 0; id < size; ++id) {
          if (row[id] >= least) reached.push_back(static_cast<int32_t>(id));
          else sum += sampler::whole_weight(sampler::weight_of((row[id] - blocks.highest()) / temperature));
        }
        const LogitBlocks::Bounds bounds =
            blocks.split_at(least, temperature, [&](int32_t id, float) { visited.push_back(id); });
        CHECK(visited == reached);
        CHECK(bounds.least <= sum && sum <= bounds.most);
        const auto width = static_cast<double>(bounds.most - bounds.least);
        CHECK(width <= 3e-5 * static_cast<double>(sum) + static_cast<double>(size + 600));
      }
    }
  }
}

// Each token is found for targets from the sum of those before it up to its own.
PAGODA_TEST(sampler_blocks_find_the_token_at_an_offset_in_the_sum) {
  std::mt19937_64 random(seed(6));
  for (const size_t size : {size_t{3}, size_t{256}, size_t{300}, size_t{1025}}) {
    const std::vector<float> row = random_row(random, size);
    LogitBlocks blocks(size);
    REQUIRE(blocks.survey(row));
    const uint64_t total = blocks.sum_weights(2.0f);
    uint64_t before = 0;
    for (size_t i = 0; i < size; ++i) {
      const uint64_t weight = sampler::whole_weight(sampler::weight_of((row[i] - blocks.highest()) / 2.0f));
      if (weight > 0) {
        CHECK_EQ(blocks.id_at(before, 2.0f), static_cast<int32_t>(i));
        CHECK_EQ(blocks.id_at(before + weight - 1, 2.0f), static_cast<int32_t>(i));
      }
      before += weight;
    }
    CHECK_EQ(before, total);
  }
}

PAGODA_TEST(sampler_blocks_refuse_nan_and_infinity_anywhere) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const size_t index : {size_t{0}, size_t{15}, size_t{255}, size_t{256}, size_t{599}}) {
      std::vector<float> row(600, 0.5f);
      LogitBlocks blocks(row.size());
      CHECK(blocks.survey(row));
      row[index] = bad;
      CHECK(!blocks.survey(row));
    }
}

}  // namespace pagoda::test
