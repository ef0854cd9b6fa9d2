// io/synthetic_files: the same bytes for any way of reading them, a header that parses, and known names.
#include "io/synthetic/files.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <set>

#include "base/dtype.h"
#include "base/fnv1a.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "io/quantize/bad_row.h"
#include "io/synthetic/shapes.h"
#include "model/model_runner.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

Result<std::unique_ptr<ModelFiles>> open_shape(const std::string& name) {
  ModelSource source;
  source.shape = name;
  return open_model_files(source);
}

std::vector<float> read_all(const Checkpoint& checkpoint, const std::string& name) {
  const TensorEntry* entry = checkpoint.find(name);
  if (entry == nullptr) return {};
  std::vector<uint16_t> bits(entry->size_bytes / 2);
  CHECK_OK(checkpoint.read(*entry, 0, std::as_writable_bytes(std::span(bits))));
  std::vector<float> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(), bf16_to_f32);
  return values;
}

struct Moments {
  double mean = 0, deviation = 0, min = INFINITY, max = -INFINITY;
};

Moments moments(const std::vector<float>& values) {
  Moments m;
  double sum = 0, squares = 0;
  for (float v : values) {
    sum += v;
    squares += double{v} * v;
    m.min = std::min<double>(m.min, v);
    m.max = std::max<double>(m.max, v);
  }
  m.mean = sum / static_cast<double>(values.size());
  m.deviation = std::sqrt(squares / static_cast<double>(values.size()) - m.mean * m.mean);
  return m;
}

}  // namespace

// Every family has one, with the files that a model of that family needs.
PAGODA_TEST(synthetic_shapes_have_the_tensors_of_their_families) {
  const std::string names = shape_names();
  std::set<Family> families;
  for (size_t begin = 0; begin < names.size();
       begin = names.find(", ", begin) == std::string::npos ? names.size() : names.find(", ", begin) + 2) {
    const std::string name = names.substr(begin, names.find(", ", begin) - begin);
    test::note(name);
    const auto opened = test::open_model({.directory = "", .files = {}, .shape = name});
    REQUIRE_OK(opened);
    families.insert(opened->config.family);
    auto device = device::make_device("reference", 1);
    REQUIRE_OK(device);
    const auto summary = model::check_weights(opened->config, *opened->checkpoint, **device, WeightFormat::f32);
    REQUIRE_OK(summary);
    CHECK(summary->skipped_tensors.empty());
  }
  CHECK_EQ(families.size(), size_t{17});
}

// Names, shapes, order and the first numbers of every tensor of every shape: so measurements stay comparable.
PAGODA_TEST(synthetic_files_never_change) {
  constexpr uint64_t kKnown = 0x276af4820a187abf;
  const std::string names = shape_names();
  Fnv1a hash;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(", ", begin), names.size());
    const auto files = open_shape(names.substr(begin, end - begin));
    REQUIRE_OK(files);
    const auto checkpoint = Checkpoint::open(**files);
    REQUIRE_OK(checkpoint);
    for (const auto& [name, tensor] : checkpoint->tensors()) {
      std::array<char, 8> numbers;
      REQUIRE_OK(checkpoint->read(
          tensor, 0, std::as_writable_bytes(std::span(numbers).first(std::min<size_t>(8, tensor.size_bytes)))));
      hash.add(name);
      for (const int64_t dim : tensor.shape) hash.add(static_cast<uint64_t>(dim));
      hash.add(tensor.offset_bytes);
      hash.add(std::string_view(numbers.data(), std::min<size_t>(8, tensor.size_bytes)));
    }
    begin = end + 2;
  }
  test::note("hash " + std::to_string(hash.value()));
  CHECK_EQ(hash.value(), kKnown);
}

PAGODA_TEST(synthetic_unknown_shapes_are_refused_with_the_known_ones) {
  const auto files = open_shape("qwen9-1t");
  test::check_row("unknown", files.status, StatusCode::invalid_argument, "'qwen9-1t'; known shapes are qwen3.5-0.8b");
  ModelSource both{test::mini_model_dir(), {}, "tiny"};
  test::check_row("both", open_model_files(both).status, StatusCode::invalid_argument, "a shape and files");
}

PAGODA_TEST(synthetic_files_are_config_weights_and_text) {
  const auto files = open_shape("tiny");
  REQUIRE_OK(files);
  CHECK_EQ((*files)->names().size(), size_t{4});
  for (const std::string& name : (*files)->names()) {
    CHECK((*files)->exists(name));
    CHECK_OK((*files)->open(name));
  }
  CHECK(!(*files)->exists("vocab.json"));
  test::check_row("absent", (*files)->open("vocab.json").status, StatusCode::not_found, "'vocab.json'");
  const auto file = (*files)->open("model.safetensors");
  REQUIRE_OK(file);
  std::byte byte;
  test::check_row("end", (*file)->read((*file)->size_bytes(), {&byte, 1}), StatusCode::bad_file, "outside the file");
}

PAGODA_TEST(synthetic_bytes_do_not_depend_on_the_chunks_read) {
  const auto files = open_shape("tiny");
  REQUIRE_OK(files);
  const auto file = (*files)->open("model.safetensors"), again = (*files)->open("model.safetensors");
  REQUIRE(file.is_ok() && again.is_ok());
  std::vector<std::byte> whole((*file)->size_bytes()), chunks(whole.size());
  REQUIRE_OK((*file)->read(0, whole));
  std::mt19937_64 random(test::seed(7));
  for (size_t at = 0; at < whole.size();) {
    const size_t count = std::min<size_t>(whole.size() - at, random() % (random() % 4 == 0 ? 30'000 : 40));
    REQUIRE_OK((*again)->read(at, std::span(chunks).subspan(at, count)));
    at += count;
  }
  CHECK(whole == chunks);
}

PAGODA_TEST(synthetic_numbers_have_their_distributions) {
  const auto files = open_shape("tiny");
  REQUIRE_OK(files);
  const auto checkpoint = Checkpoint::open(**files);
  REQUIRE_OK(checkpoint);
  const std::vector<float> up = read_all(*checkpoint, "model.layers.0.mlp.up_proj.weight");
  const std::vector<float> gate = read_all(*checkpoint, "model.layers.0.mlp.gate_proj.weight");
  REQUIRE(up.size() == 128 * 256 && gate.size() == up.size());
  CHECK(up != gate);
  const Moments m = moments(up);
  CHECK(std::abs(m.mean) < 0.001 && std::abs(m.deviation - 0.02) < 0.001);
  CHECK(std::set<float>(up.begin(), up.end()).size() > 1000);
  for (const auto& [name, low, high] :
       {std::tuple("A_log", 0.0, 2.8), std::tuple("dt_bias", -6.95, -2.2), std::tuple("norm.weight", 0.9, 1.1)}) {
    const Moments range = moments(read_all(*checkpoint, std::string("model.layers.0.linear_attn.") + name));
    CHECK(range.min >= low && range.max <= high);
  }
  const Moments centred = moments(read_all(*checkpoint, "model.norm.weight"));
  CHECK(centred.min >= -0.1 && centred.max <= 0.1);
}

}  // namespace pagoda::io
