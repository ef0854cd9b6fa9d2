// io/integers: matrices packed by GPTQ, AWQ and compressed-tensors are read exactly; invalid ones are refused by name.
#include "io/quantize/integers.h"

#include "base/quant/stored_row.h"
#include "io/checkpoint.h"
#include "io/quantize/bad_row.h"
#include "io/quantize/tensors.h"
#include "io/safetensors/safetensors.h"
#include "io/safetensors/safetensors_file.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

Result<Checkpoint> open_integers(const std::string& name) {
  auto files = open_model_files({.directory = test::fixtures_dir() + "/integers/" + name, .files = {}});
  if (!files.is_ok()) return files.status;
  return Checkpoint::open(**files);
}

struct Part {
  std::string name, dtype, shape;
  uint64_t bytes;
};

// A file of these tensors, whose bytes are 0, 1, 2, ...
Status unpack_parts(const std::string& settings, const std::vector<Part>& parts) {
  std::string header = "{";
  uint64_t at = 0;
  for (const Part& part : parts) {
    header += (at == 0 ? "" : ",") + test::tensor(part.name, part.dtype, part.shape, at, at + part.bytes);
    at += part.bytes;
  }
  const std::shared_ptr<File> files[] = {std::make_shared<test::StringFile>("w", test::safetensors(header + "}", at))};
  auto tensors = read_safetensors_header(*files[0], 0);
  if (!tensors.is_ok()) return tensors.status;
  return decode_quantized("{\"quantization_config\": {" + settings + "}}", files, *tensors);
}

const std::string kGptq = R"("quant_method": "gptq", "bits": 4, "group_size": 32)";
const std::string kAwq = R"("quant_method": "awq", "bits": 4, "group_size": 32)";

// 8 rows of 64 columns, in two groups.
std::vector<Part> gptq_parts() {
  return {{"x.qweight", "I32", "[8,8]", 256}, {"x.qzeros", "I32", "[2,1]", 8}, {"x.scales", "F16", "[2,8]", 32}};
}

Status with(const std::string& settings, size_t index, const Part& changed) {
  std::vector<Part> parts = gptq_parts();
  parts[index] = changed;
  return unpack_parts(settings, parts);
}

}  // namespace

PAGODA_TEST(integers_of_every_layout_are_read_exactly) {
  const struct {
    const char *folder, *format;
    int group;
  } kModels[] = {{"gptq", "int4 with zeros", 128},
                 {"gptq_zeros", "int8 with zeros", 32},
                 {"gptq_rows", "int4 with zeros", 128},
                 {"awq", "int4 with zeros", 64},
                 {"packed", "int4", 128},
                 {"packed_zeros", "int4 with zeros", 32},
                 {"bytes", "int8", 128}};
  constexpr uint64_t kFirst = 5, kRows = 14, kCols = 256;  // rows that begin and end within a word
  for (const auto& model : kModels) {
    const auto checkpoint = open_integers(model.folder);
    REQUIRE_OK(checkpoint);
    const TensorEntry* tensor = checkpoint->find("model.layers.0.mlp.down_proj.weight");
    const auto file = test::fixture_file(std::string("integers/") + model.folder + "/expected.safetensors");
    const auto expected = read_safetensors_header(*file, 0);
    REQUIRE_OK(expected);
    REQUIRE(tensor != nullptr && tensor->decoder != nullptr);
    CHECK(tensor->shape == (std::vector<int64_t>{128, kCols}));
    std::vector<float> wanted(kRows * kCols), got(wanted.size()), row(kCols);
    CHECK_OK(file->read(expected->at("weight").offset_bytes, std::as_writable_bytes(std::span(wanted))));
    CHECK_OK(tensor->decoder->read(kFirst * kCols, got));
    if (got != wanted) test::fail(__FILE__, __LINE__, std::string(model.folder) + " differs from the reference");
    const QuantFormat& format = quant_format(*tensor->decoder->stored_format());
    CHECK_EQ(std::string(format.name), std::string(model.format));
    CHECK_EQ(format.group, model.group);
    const size_t row_bytes = stored_row_bytes(format, kCols);
    std::vector<std::byte> stored(kRows * row_bytes);
    CHECK_OK(tensor->decoder->read_stored(kFirst, kRows, stored));
    for (uint64_t i = 0; i < kRows; ++i) {
      dequantise(format, stored_row(format, kCols, stored.data() + i * row_bytes), kCols, row.data());
      CHECK(std::equal(row.begin(), row.end(), wanted.begin() + static_cast<int64_t>(i * kCols)));
    }
    for (const auto& [name, entry] : checkpoint->tensors()) CHECK(name.ends_with(".weight"));
  }
}

PAGODA_TEST(integers_that_do_not_fit_are_refused) {
  const StatusCode bad = StatusCode::bad_file, unsupported = StatusCode::unsupported;
  CHECK_OK(unpack_parts(kGptq, gptq_parts()));
  test::check_row("zeros missing", with(kGptq, 1, {"y", "I32", "[1]", 4}), bad, "'x' has no qzeros");
  test::check_row("scales missing", with(kGptq, 2, {"y", "I32", "[1]", 4}), bad, "'x' has no scales");
  test::check_row("scales too few", with(kGptq, 2, {"x.scales", "F16", "[1,8]", 16}), bad,
                  "'x' has scales that do not");
  test::check_row("scales of other rows", with(kGptq, 2, {"x.scales", "F16", "[2,4]", 16}), bad, "'x' has scales");
  test::check_row("scales of bytes", with(kGptq, 2, {"x.scales", "U8", "[2,8]", 16}), bad, "'x' has odd scales");
  test::check_row("zeros of other rows", with(kGptq, 1, {"x.qzeros", "I32", "[2,2]", 16}), bad, "'x' has zeros");
  test::check_row("weights of bytes", with(kGptq, 0, {"x.qweight", "U8", "[8,8]", 64}), bad, "'x' has an odd form");
  test::check_row("one dimension", with(kGptq, 0, {"x.qweight", "I32", "[64]", 256}), bad, "'x' has an odd form");
  std::vector<Part> parts = gptq_parts();
  parts.push_back({"x.g_idx", "I32", "[64]", 256});
  test::check_row("columns in another order", unpack_parts(kGptq, parts), unsupported,
                  "'x' has its columns in another order");
  parts.back() = {"x.g_idx", "I32", "[63]", 252};
  test::check_row("too few columns", unpack_parts(kGptq, parts), bad, "x.g_idx");
  test::check_row(
      "groups of 16",
      unpack_parts(
          R"("quant_method": "gptq", "bits": 4, "group_size": 16)",
          {{"x.qweight", "I32", "[8,8]", 256}, {"x.qzeros", "I32", "[4,1]", 16}, {"x.scales", "F16", "[4,8]", 64}}),
      bad, "'x' has groups of 16");
  const auto with_bits = [](const char* method, const char* more) {
    return unpack_parts(std::string("\"quant_method\": \"") + method + "\", " + more, gptq_parts());
  };
  test::check_row("3 bits", with_bits("gptq", R"("bits": 3, "group_size": 32)"), bad, "bits");
  test::check_row("8 bits", with_bits("awq", R"("bits": 8, "group_size": 32)"), bad, "bits");
  test::check_row("marlin", with_bits("awq", R"("bits": 4, "version": "marlin")"), unsupported, "marlin");
  test::check_row("other files", with_bits("gptq", R"("bits": 4, "checkpoint_format": "bitblas")"), unsupported,
                  "bitblas");
  test::check_row("other floats", with_bits("compressed-tensors", R"("format": "float-quantized")"), unsupported,
                  "float-quantized");
  CHECK_OK(unpack_parts(
      kAwq, {{"x.qweight", "I32", "[64,1]", 256}, {"x.qzeros", "I32", "[2,1]", 8}, {"x.scales", "F16", "[2,8]", 32}}));
  const std::string packed = R"("quant_method": "compressed-tensors", "format": "pack-quantized")";
  test::check_row(
      "no shape",
      unpack_parts(packed, {{"x.weight_packed", "I32", "[8,8]", 256}, {"x.weight_scale", "F16", "[8,2]", 32}}), bad,
      "'x' has no weight_shape");
  test::check_row("another shape",
                  unpack_parts(packed, {{"x.weight_shape", "I64", "[2]", 16},
                                        {"x.weight_packed", "I32", "[8,8]", 256},
                                        {"x.weight_scale", "F16", "[8,2]", 32}}),
                  bad, "'x' has a weight_shape that does not fit");
}

}  // namespace pagoda::io
