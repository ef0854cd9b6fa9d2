// Measures how far the next tokens of quantised models are from those of a model in float32: mean KL in nats, as
// llama-perplexity --kl-divergence does: contexts of 512 tokens, of which the second half counts.
// Build: make -C Tools/native kl_bench
// Usage: kl_bench TEXT REFERENCE CANDIDATE... [--contexts N] [--device NAME]
// REFERENCE and CANDIDATE are folders or GGUF files; "@8bit" after a path chooses a format ("@auto", as stored, if
// there is none). The matrices of REFERENCE are decoded to float32.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
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

class Model {
 public:
  Model(const std::string& path, const std::string& quantize, const std::string& device)
      : files_(taken(io::open_model_files({.directory = path, .files = {}}))),
        checkpoint_(taken(io::Checkpoint::open(*files_))),
        device_(taken(device::make_device(device, 0))) {
    const std::string text = taken(files_->read_text("config.json", 1 << 22));
    config_ = taken(io::parse_model_config(text, "config.json"));
    check(model::untie_different_head(checkpoint_, config_));
    const DType dtype = taken(model::choose_dtype("float32", config_, checkpoint_));
    const WeightFormat format = taken(model::choose_format(quantize, dtype, checkpoint_));
    model_ = taken(model::load_model(config_, checkpoint_, *device_, format, dtype, kBlock, nullptr));
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
  std::span<const float> logits(std::span<const int32_t> tokens) {
    model::ForwardBatch batch;
    batch.token_ids.assign(tokens.begin(), tokens.end());
    for (int32_t i = 0; i < kContext; ++i) {
      batch.positions.push_back(i);
      batch.slot_mapping.push_back(i);
      if (i >= static_cast<int32_t>(kFirst) && i + 1 < kContext) batch.logits_rows.push_back(i);
    }
    batch.cu_seqlens = {0, kContext};
    batch.context_lens = {kContext};
    batch.block_tables.resize(kContext / kBlock);
    std::iota(batch.block_tables.begin(), batch.block_tables.end(), 0);
    if (model::cache_layout(config_, DType::f32, kBlock).has_state()) {
      batch.fresh_slots = {0};
      batch.state_slots = {0};
    }
    check(model_->forward(batch));
    return model_->logits();
  }

 private:
  std::unique_ptr<io::ModelFiles> files_;
  io::Checkpoint checkpoint_;
  std::unique_ptr<device::Device> device_;  // outlives the model
  io::ModelConfig config_;
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
  const size_t at = name.rfind('@');
  Model model(name.substr(0, at), at == name.npos ? "auto" : name.substr(at + 1), device);
  const size_t vocab = reference.vocab();
  Sum sum;
  for (size_t begin = 0; begin < tokens.size(); begin += kContext) {
    const auto context = tokens.subspan(begin, kContext);
    const auto wanted = reference.logits(context), got = model.logits(context);
    for (size_t row = 0; row + 1 < kFirst; ++row)
      sum.add(wanted.subspan(row * vocab, vocab), got.subspan(row * vocab, vocab));
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
  Model reference(paths[1], "none", device);
  std::vector<int32_t> tokens;
  check(taken(engine::load_tokenizer_file(reference.files()))->encode(text, /*parse_special=*/false, tokens));
  num_contexts = std::min(num_contexts, tokens.size() / kContext);
  tokens.resize(num_contexts * kContext);
  std::printf("%zu contexts of %d tokens; mean KL to %s in float32, standard error, same likeliest token\n",
              num_contexts, kContext, paths[1].c_str());
  for (size_t i = 2; i < paths.size(); ++i) measure(reference, paths[i], device, tokens);
  return 0;
}
