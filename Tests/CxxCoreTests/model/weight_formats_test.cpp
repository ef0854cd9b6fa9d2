// the mix of formats of a model, and what its weights would take in others: the same sizes as the memory plan.
#include <map>

#include "engine/load/loader.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

EngineOptions options(const std::string& quantize, const std::string& device = "cpu") {
  EngineOptions made;
  made.max_model_len = 64;
  made.device = device;
  made.num_threads = 1;
  made.quantize = quantize;
  return made;
}

std::string fixture(const std::string& name) { return fixtures_dir() + "/" + name; }

MatrixSum all_matrices(const ModelInfo& info) {
  MatrixSum all;
  for (const FormatSum& one : info.formats) {
    all.num_parameters += one.sum.num_parameters;
    all.size_bytes += one.sum.size_bytes;
  }
  return all;
}

int64_t token_bytes(const ModelInfo& info) { return info.layer_matrices.size_bytes + info.head_matrix.size_bytes; }

}  // namespace

// Every matrix of the file is counted once, in the format that the file has.
PAGODA_TEST(weight_formats_are_those_of_the_file) {
  const std::string path = fixture("gguf/stored/k_mix.gguf");
  const auto info = engine::inspect(folder(path), options("auto"));
  REQUIRE_OK(info);
  const auto opened = open_model(folder(path));
  REQUIRE_OK(opened);
  std::map<std::string, FormatSum> in_file;
  for (const auto& [name, tensor] : opened->checkpoint->tensors()) {
    if (tensor.shape.size() != 2) continue;
    REQUIRE(tensor.decoder != nullptr && tensor.decoder->stored_format().has_value());
    FormatSum& one = in_file[std::string(weight_format_name(*tensor.decoder->stored_format()))];
    ++one.num_matrices;
    one.sum.num_parameters += tensor.shape[0] * tensor.shape[1];
  }
  CHECK_EQ(info->formats.size(), in_file.size());
  CHECK(in_file.size() >= 3);
  int64_t last = INT64_MAX;
  for (const FormatSum& one : info->formats) {
    note(one.format + ": " + std::to_string(one.num_matrices) + " matrices, " + std::to_string(one.sum.size_bytes));
    CHECK_EQ(one.num_matrices, in_file[one.format].num_matrices);
    CHECK_EQ(one.sum.num_parameters, in_file[one.format].sum.num_parameters);
    CHECK(one.sum.size_bytes <= last);
    last = one.sum.size_bytes;
  }
  const MatrixSum all = all_matrices(*info);
  CHECK(all.size_bytes <= info->plan.weights_bytes && all.size_bytes > info->plan.weights_bytes * 3 / 4);
}

// A model with experts, whose files have three matrices of all experts per layer or one of each expert: a token reads
// the experts that it is routed to.
PAGODA_TEST(weight_formats_count_stacked_experts_once) {
  for (const char* name : {"model/qwen3_5_moe", "mlx/qwen3_5_moe"}) {
    const auto opened = open_model(folder(fixture(name)));
    REQUIRE_OK(opened);
    const auto info = engine::inspect(folder(fixture(name)), options("8bit"));
    REQUIRE_OK(info);
    int64_t num_matrices = 0, num_tensors = 0;
    for (const FormatSum& one : info->formats) num_matrices += one.num_matrices;
    for (const auto& [tensor_name, tensor] : opened->checkpoint->tensors())
      num_tensors += tensor_name.ends_with("proj.weight") || tensor_name.ends_with("_proj") ||
                     tensor_name.ends_with("gate.weight") || tensor_name.ends_with("lm_head.weight") ||
                     tensor_name.ends_with("embed_tokens.weight") || tensor_name.find("in_proj_") != std::string::npos;
    note(std::string(name) + ": " + std::to_string(num_matrices) + " of " + std::to_string(num_tensors));
    CHECK_EQ(num_matrices, num_tensors);
    const MatrixSum all = all_matrices(*info);
    CHECK(token_bytes(*info) < all.size_bytes && token_bytes(*info) > 0);
  }
}

// What another format would take is what a plan with it takes.
PAGODA_TEST(weight_formats_of_other_plans_are_those_plans) {
  for (const char* name : {"gguf/stored/k_mix.gguf", "model/qwen3_5", "model/qwen3_5_moe", "mlx/qwen3_5_moe"}) {
    for (const char* device : {"cpu", "software"}) {
      for (const char* quantize : {"auto", "8bit", "4bit", "none"}) {
        note(std::string(name) + " on " + device + ", " + quantize);
        const auto info = engine::inspect(folder(fixture(name)), options(quantize, device));
        REQUIRE_OK(info);
        for (const OtherWeights& other : info->other_weights) {
          CHECK(other.quantize != quantize);
          const auto there = engine::inspect(folder(fixture(name)), options(other.quantize, device));
          REQUIRE_OK(there);
          CHECK_EQ(there->plan.weights_bytes, other.weights_bytes);
          CHECK_EQ(token_bytes(*there), other.token_bytes);
        }
        // A model of floats has the same numbers with auto and none.
        const bool is_third = std::string(quantize) == "none" && !std::string(name).starts_with("model/");
        CHECK_EQ(info->other_weights.size(), size_t{is_third ? 3u : 2u});
      }
    }
  }
}

}  // namespace pagoda::test
