// Measures decode steps of Qwen4-Exp after short and long texts, whose attention reads the same number of tokens, and
// what the table of n-grams costs: processor time per token, so that other programs matter little. Layers have the
// published size, but there are 4 with 32 experts each; weights and caches are random. The table, 102 GB, is in FILE,
// which is made sparse, or without a FILE computed as the other weights are. Linux and macOS. Build: make -C
// Tools/native sparse_bench     Usage: sparse_bench [threads [tokens [FILE]]]
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "device/registry.h"
#include "io/checkpoint.h"
#include "io/synthetic/files.h"
#include "io/synthetic/shapes.h"
#include "model/model.h"

namespace {

using namespace pagoda;

constexpr int32_t kBlock = 16, kVocab = 8192;
constexpr int32_t kContexts[] = {8 << 10, 64 << 10};

template <class Value>
Value or_exit(Result<Value> result) {
  if (result.is_ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status.message.c_str());
  std::exit(1);
}
void or_exit(Status status) { or_exit(Result<int>(status.is_ok() ? Result<int>(0) : Result<int>(std::move(status)))); }

double processor_ms() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double resident_mib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // KiB on Linux
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == text.npos) std::fprintf(stderr, "no %s in the shape\n", from.c_str()), std::exit(1);
  text.replace(at, from.size(), to);
}

std::string config_of(bool has_table) {
  std::string json = or_exit(io::shape_config_json("qwen3.8-flash-next-125b-a6b"));
  replace(json, "\"num_hidden_layers\": 48", "\"num_hidden_layers\": 4");
  replace(json, "\"num_experts\": 512", "\"num_experts\": 32");
  replace(json, "\"vocab_size\": 248320", concat("\"vocab_size\": ", kVocab));
  replace(json, "\"eos_token_id\": 248044", "\"eos_token_id\": 0");
  if (!has_table) replace(json, "\"ple_layer_ids\": [2]", "\"ple_layer_ids\": []");
  return json;
}

// The synthetic file, but for bytes [begin, end), which are those of a file on disk.
class Overlay final : public io::File {
 public:
  Overlay(std::unique_ptr<io::File> file, int descriptor, uint64_t begin, uint64_t end)
      : file_(std::move(file)), descriptor_(descriptor), begin_(begin), end_(end) {}
  uint64_t size_bytes() const noexcept override { return file_->size_bytes(); }
  const std::string& name() const noexcept override { return file_->name(); }
  Status read(uint64_t offset, std::span<std::byte> into) const noexcept override {
    if (offset < begin_ || offset + into.size() > end_) return file_->read(offset, into);
    const auto count = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset - begin_));
    return count == static_cast<ssize_t>(into.size()) ? ok_status()
                                                      : make_error(StatusCode::io_error, "the table cannot be read");
  }

 private:
  std::unique_ptr<io::File> file_;
  int descriptor_;
  uint64_t begin_, end_;
};

class WithTable final : public io::ModelFiles {
 public:
  WithTable(std::unique_ptr<io::ModelFiles> files, const char* path) : files_(std::move(files)) {
    const io::Checkpoint checkpoint = or_exit(io::Checkpoint::open(*files_));
    for (const auto& [name, tensor] : checkpoint.tensors()) {
      if (name.find(".ngram_embedding.") == name.npos) continue;
      begin_ = std::min(begin_, tensor.offset_bytes);
      end_ = std::max(end_, tensor.offset_bytes + tensor.size_bytes);
    }
    descriptor_ = ::open(path, O_RDWR | O_CREAT, 0600);
    if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(end_ - begin_)) != 0)
      std::fprintf(stderr, "cannot make %s\n", path), std::exit(1);
  }
  bool exists(std::string_view name) const noexcept override { return files_->exists(name); }
  std::vector<std::string> names() const override { return files_->names(); }
  std::string description() const override { return files_->description(); }
  Result<std::unique_ptr<io::File>> open(std::string_view name) const override {
    auto file = files_->open(name);
    if (!file.is_ok() || name != "model.safetensors") return file;
    return std::unique_ptr<io::File>(std::make_unique<Overlay>(std::move(*file), descriptor_, begin_, end_));
  }

 private:
  std::unique_ptr<io::ModelFiles> files_;
  int descriptor_ = -1;  // closed when the program ends
  uint64_t begin_ = UINT64_MAX, end_ = 0;
};

// A model with the caches of one sequence for each context.
class Bench {
 public:
  Bench(bool has_table, int threads, const char* table) : device_(or_exit(device::make_device("cpu", threads))) {
    const std::string json = config_of(has_table);
    files_ = or_exit(io::open_synthetic_files("sparse", json));
    if (has_table && table != nullptr) files_ = std::make_unique<WithTable>(std::move(files_), table);
    const io::ModelConfig config = or_exit(io::parse_model_config(json, "config.json"));
    const io::Checkpoint checkpoint = or_exit(io::Checkpoint::open(*files_));
    model_ = or_exit(model::load_model(config, checkpoint, *device_, WeightFormat::bf16, DType::bf16, kBlock, nullptr));
    const int32_t blocks = kContexts[1] / kBlock + 8;
    or_exit(model_->allocate({.num_kv_blocks = blocks,
                              .num_state_slots = 1,
                              .max_num_tokens = 16,
                              .max_num_seqs = 1,
                              .max_logits_rows = 1,
                              .max_blocks_per_seq = blocks,
                              .block_size = kBlock}));
    fill(blocks, model::cache_layout(config, DType::bf16, kBlock).kv_block_bytes());
    for (int32_t i = 0; i < blocks; ++i) batch_.block_tables.push_back(i);
    batch_.state_slots = {0};
    batch_.logits_rows = {0};
    batch_.draws = {Draw{.top_k = 1}};
    batch_.cu_seqlens = {0, 1};
  }

  // Processor time of one token at `position`.
  double step(int32_t position) {
    batch_.token_ids = {static_cast<int32_t>(random_() % kVocab)};
    batch_.positions = {position};
    batch_.slot_mapping = {position};
    batch_.context_lens = {position + 1};
    const double start = processor_ms();
    or_exit(model_->forward(batch_));
    return processor_ms() - start;
  }

 private:
  // Words that are numbers of normal size both as a float and as two bfloat16.
  void fill(int32_t blocks, int64_t block_bytes) {
    std::normal_distribution<float> normal;
    std::vector<uint32_t> words(static_cast<size_t>(block_bytes) / sizeof(uint32_t));
    for (int32_t block = 0; block < blocks; ++block) {
      for (uint32_t& word : words) {
        const float number = normal(random_);
        std::memcpy(&word, &number, sizeof word);
        word = (word & 0xffff0000u) | word >> 16;
      }
      or_exit(model_->write_block(block, std::as_bytes(std::span(words))));
    }
  }

  std::mt19937 random_{7};
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<io::ModelFiles> files_;
  std::unique_ptr<model::Model> model_;
  model::ForwardBatch batch_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1, tokens = argc > 2 ? std::atoi(argv[2]) : 64;
  double with_table = 0;
  for (const bool has_table : {true, false}) {
    Bench bench(has_table, threads, argc > 3 ? argv[3] : nullptr);
    std::vector<double> times[2];
    for (int i = -4; i < tokens; ++i)  // in turn, so that the machine's mood is the same for both
      for (int c = 0; c < 2; ++c) {
        const double time = bench.step(kContexts[c] + i + 4);
        if (i >= 0) times[c].push_back(time);
      }
    const double near = median(times[0]), far = median(times[1]);
    std::printf(
        "%s a table of n-grams: %.2f ms of processor time per token after %d tokens, %.2f after %d: %.2f times; "
        "%.0f MiB resident at most\n",
        has_table ? "with" : "without", near, kContexts[0], far, kContexts[1], far / near, resident_mib());
    if (has_table) with_table = near;
    else std::printf("the table costs %.1f %%\n", (with_table / near - 1) * 100);
  }
}
