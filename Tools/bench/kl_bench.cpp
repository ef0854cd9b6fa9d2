// Measures how far the next tokens of quantised models are from those of a model in float32: mean KL in nats, as
// llama-perplexity --kl-divergence does: contexts of 512 tokens, of which the second half counts.
// Build: make -C Tools/native kl_bench
// Usage: kl_bench TEXT REFERENCE CANDIDATE... [--contexts N] [--device NAME]
// REFERENCE and CANDIDATE are folders or GGUF files; "@8bit" after a path chooses a format ("@auto", as stored, if
// there is none), and ",kv=int8" and ",state=bfloat16" after that those of the caches, which are float32 otherwise:
// "@none,kv=int8" shows what the cache alone changes. The matrices of REFERENCE are decoded to float32.
// No device has a cache of 4 bits. "kv=int4" shows what one would change at least: each block of 16 tokens is rounded
// once it is full, in groups of 32 with a scale and a minimum.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/concat.h"
#include "device/registry.h"
#include "engine/load/text_files.h"
#include "io/model_files.h"
#include "model/model.h"
#include "model/weights/tied_head.h"

namespace {

using namespace pagoda;

constexpr int32_t kContext = 512, kBlock = 16;
constexpr size_t kFirst = kContext / 2;  // of the positions that count

template <class T>
T taken(Result<T> result) {
  if (result.is_ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status.message.c_str());
  std::exit(1);
}
void check(const Status& status) {
  if (!status.is_ok()) taken(Result<int>(status));
}

struct Formats {
  std::string weights = "auto", kv = "float32", state = "float32";
};

// Splits "PATH@FORMAT,kv=NAME,state=NAME"; all that follows the path may be absent.
Formats formats_of(std::string& path) {
  Formats formats;
  const size_t at = path.rfind('@');
  if (at == path.npos) return formats;
  std::istringstream words(path.substr(at + 1));
  path.resize(at);
  for (std::string word; std::getline(words, word, ',');)
    if (word.starts_with("kv=")) formats.kv = word.substr(3);
    else if (word.starts_with("state=")) formats.state = word.substr(6);
    else formats.weights = word;
  return formats;
}

float to_half(float value) { return f16_to_f32(f32_to_f16(value)); }

// Rounds to 4 bits: 16 steps from a minimum, which is a half, as is the step.
void round_to_int4(std::span<float> group) {
  const auto [low, high] = std::ranges::minmax(group);
  const float first = to_half(low), step = to_half((high - low) / 15);
  for (float& x : group)
    x = step > 0 ? first + step * std::clamp(std::nearbyint((x - first) / step), 0.0f, 15.0f) : first;
}

class Model {
 public:
  Model(const std::string& path, const Formats& formats, const std::string& device)
      : rounds_blocks_(formats.kv == "int4"),
        files_(taken(io::open_model_files({.directory = path, .files = {}}))),
        checkpoint_(taken(io::Checkpoint::open(*files_))),
        device_(taken(device::make_device(device, 0))) {
    const std::string text = taken(files_->read_text("config.json", 1 << 22));
    config_ = taken(io::parse_model_config(text, "config.json"));
    check(model::untie_different_head(checkpoint_, config_));
    const DType dtype = taken(model::choose_dtype("float32", config_, checkpoint_));
    const WeightFormat format = taken(model::choose_format(formats.weights, dtype, checkpoint_));
    const DType kv = rounds_blocks_ ? DType::f32 : taken(model::choose_kv_dtype(formats.kv, dtype));
    const cache::CacheTypes types(kv, taken(model::choose_state_dtype(formats.state)));
    layout_ = model::cache_layout(config_, types, kBlock);
    model_ = taken(model::load_model(config_, checkpoint_, *device_, format, types, kBlock, nullptr));
    check(model_->allocate({.num_kv_blocks = kContext / kBlock,
                            .num_state_slots = 1,
                            .max_num_tokens = kContext,
                            .max_num_seqs = 1,
                            .max_logits_rows = kContext,
                            .max_blocks_per_seq = kContext / kBlock,
                            .block_size = kBlock}));
  }

  const io::ModelFiles& files() const { return *files_; }
  size_t vocab() const { return static_cast<size_t>(config_.vocab_size); }

  // Logits of the positions that count: the last has no next token.
  std::vector<float> logits(std::span<const int32_t> tokens) {
    std::vector<float> all;
    const int32_t step = rounds_blocks_ ? kBlock : kContext;
    for (int32_t begin = 0; begin < kContext; begin += step) {
      const std::span<const float> some = run(tokens, begin, step);
      all.insert(all.end(), some.begin(), some.end());
      if (rounds_blocks_) round_block(begin / kBlock);
    }
    return all;
  }

 private:
  std::span<const float> run(std::span<const int32_t> tokens, int32_t begin, int32_t count) {
    model::ForwardBatch batch;
    for (int32_t i = begin; i < begin + count; ++i) {
      batch.token_ids.push_back(tokens[static_cast<size_t>(i)]);
      batch.positions.push_back(i);
      batch.slot_mapping.push_back(i);
      if (i >= static_cast<int32_t>(kFirst) && i + 1 < kContext) batch.logits_rows.push_back(i - begin);
    }
    batch.cu_seqlens = {0, count};
    batch.context_lens = {begin + count};
    batch.block_tables.resize(kContext / kBlock);
    std::iota(batch.block_tables.begin(), batch.block_tables.end(), 0);
    if (layout_.has_state()) {
      if (begin == 0) batch.fresh_slots = {0};
      batch.state_slots = {0};
    }
    check(model_->forward(batch));
    return model_->logits();
  }

  void round_block(int32_t block) {
    constexpr size_t kGroup = 32;
    if (layout_.head_dim % static_cast<int32_t>(kGroup) != 0 || layout_.index_dim > 0)
      check(make_error(StatusCode::unsupported, "int4 needs heads of a multiple of 32 elements, and no indexer"));
    std::vector<float> rows(static_cast<size_t>(layout_.kv_block_bytes()) / sizeof(float));
    check(model_->read_block(block, kBlock, std::as_writable_bytes(std::span(rows))));
    for (size_t at = 0; at < rows.size(); at += kGroup) round_to_int4(std::span(rows).subspan(at, kGroup));
    check(model_->write_block(block, std::as_bytes(std::span(rows))));
  }

  bool rounds_blocks_;
  std::unique_ptr<io::ModelFiles> files_;
  io::Checkpoint checkpoint_;
  std::unique_ptr<device::Device> device_;  // outlives the model
  io::ModelConfig config_;
  cache::CacheLayout layout_;
  std::unique_ptr<model::Model> model_;
};

struct Sum {
  double kl = 0, squares = 0, num_same = 0, count = 0;

  void add(std::span<const float> p, std::span<const float> q) {
    const double of_p = log_sum(p), of_q = log_sum(q);
    double one = 0;
    for (size_t i = 0; i < p.size(); ++i) one += std::exp(p[i] - of_p) * ((p[i] - of_p) - (q[i] - of_q));
    kl += one;
    squares += one * one;
    num_same += std::ranges::max_element(p) - p.begin() == std::ranges::max_element(q) - q.begin();
    ++count;
  }

 private:
  static double log_sum(std::span<const float> logits) {
    const double most = *std::ranges::max_element(logits);
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - most);
    return most + std::log(sum);
  }
};

void measure(Model& reference, const std::string& name, const std::string& device, std::span<const int32_t> tokens) {
  std::string path = name;
  const Formats formats = formats_of(path);
  Model model(path, formats, device);
  const size_t vocab = reference.vocab();
  Sum sum;
  for (size_t begin = 0; begin < tokens.size(); begin += kContext) {
    const auto context = tokens.subspan(begin, kContext);
    const auto wanted = reference.logits(context), got = model.logits(context);
    for (size_t row = 0; row + 1 < kFirst; ++row)
      sum.add(std::span(wanted).subspan(row * vocab, vocab), std::span(got).subspan(row * vocab, vocab));
  }
  const double mean = sum.kl / sum.count, variance = sum.squares / sum.count - mean * mean;
  std::printf("%-60s %.3e +- %.1e  %5.1f %%\n", name.c_str(), mean, std::sqrt(variance / sum.count),
              100 * sum.num_same / sum.count);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  size_t num_contexts = 4;
  std::string device = "cpu";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--contexts") == 0 && i + 1 < argc) num_contexts = std::strtoul(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--device") == 0 && i + 1 < argc) device = argv[++i];
    else paths.emplace_back(argv[i]);
  }
  if (paths.size() < 3) {
    std::fprintf(stderr, "usage: kl_bench TEXT REFERENCE CANDIDATE... [--contexts N] [--device NAME]\n");
    return 64;
  }
  std::ifstream stream(paths[0]);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  Model reference(paths[1], {.weights = "none"}, device);
  std::vector<int32_t> tokens;
  check(taken(engine::load_tokenizer_file(reference.files()))->encode(text, /*parse_special=*/false, tokens));
  num_contexts = std::min(num_contexts, tokens.size() / kContext);
  tokens.resize(num_contexts * kContext);
  std::printf("%zu contexts of %d tokens; mean KL to %s in float32, standard error, same likeliest token\n",
              num_contexts, kContext, paths[1].c_str());
  for (size_t i = 2; i < paths.size(); ++i) measure(reference, paths[i], device, tokens);
  return 0;
}
