// Measures a GPU device: the two ops that read caches, one layer at a time, against the bandwidth of a copy; the
// products of a layer's experts; and whole steps of a synthetic shape with several numbers of sequences. Prints medians
// of the device's own time (CUDA events) and of wall time around the call. Build: make -C Tools/native gpu_bench
// Usage: gpu_bench [device] [shape] [bf16|8bit|4bit|ops|experts|products] [rounds] [case]. A case is SEQUENCESxROWS,
// such as 32x1 or 1x2048; by default all are measured. Experts, which take 3 GB, and single products with the formats
// of files are measured only if named.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/op_cost.h"
#include "device/registry.h"
#include "engine/load/loader.h"
#include "ops/ops.h"

namespace {

using namespace pagoda;
using device::Tensor;

[[noreturn]] void stop(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}
void check(const Status& status) {
  if (!status.is_ok()) stop(status);
}

int g_rounds = 15;
constexpr int kWarmUps = 3;

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Median device time, in seconds, of the work that `encode` encodes.
template <class Encode>
double median_seconds(device::Device& device, const Encode& encode) {
  std::vector<double> times;
  device.set_profiling(true);
  for (int round = 0; round < g_rounds + kWarmUps; ++round) {
    check(encode());
    const auto profile = device.take_profile();
    if (profile.empty() || profile.back().name != "step")
      stop(make_error(StatusCode::unsupported, device.info().name + " does not time its steps"));
    if (round >= kWarmUps) times.push_back(profile.back().seconds / static_cast<double>(profile.back().calls));
  }
  device.set_profiling(false);
  return median(std::move(times));
}

// Median wall time of `run`, in seconds; `run` waits for the device.
template <class Run>
double median_wall_seconds(const Run& run) {
  std::vector<double> times;
  for (int round = 0; round < g_rounds + kWarmUps; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    check(run());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (round >= kWarmUps) times.push_back(seconds);
  }
  return median(std::move(times));
}

// A device and the data that the op benchmarks put on it.
class OpBench {
 public:
  explicit OpBench(const std::string& name) {
    auto made = device::make_device(name, 0);
    if (!made.is_ok()) stop(made.status);
    device_ = std::move(*made);
    check(device_->reserve({.tokens = 16384,
                            .cols = 4096,
                            .sequences = 64,
                            .context = 4096,
                            .heads = 8,
                            .head_dim = 256,
                            .k_heads = 16,
                            .v_heads = 16,
                            .k_dim = 128,
                            .experts = 256}));
    std::printf("%s\n", device_->info().description.c_str());
  }

  void run() {
    copy();
    for (int64_t batch : {1, 32, 64}) gdn("decode", batch, 1);
    for (int64_t batch : {1, 4}) gdn("prefill", batch, 2048);
    for (int64_t batch : {1, 32}) attention(batch, 4096);
  }

  // The products of a 9B model's MLP, and the time to make their weights.
  void run_products() {
    copy();
    std::vector<WeightFormat> formats = {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4};
    for (const QuantId id : {QuantId::q4_0, QuantId::q4_1, QuantId::q8_0, QuantId::q4_k, QuantId::q6_k})
      formats.push_back(weight_format(id));
    for (size_t i = 0; i < kNumQuantFormats; ++i)
      if (kQuantFormats[i].name == "affine 4 bits" && kQuantFormats[i].group == 64 &&
          kQuantFormats[i].scale == ScaleType::bf16)
        formats.push_back(weight_format(static_cast<QuantId>(i)));
    for (const WeightFormat format : formats) products(format, 24576, 4096);
  }

  void run_experts() {
    for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) experts(format);
  }

 private:
  template <class Encode>
  double seconds(const Encode& encode) {
    return median_seconds(*device_, [&]() -> Status {
      PAGODA_RETURN_IF_ERROR(encode(device_->encoder()));
      return device_->encoder().submit().wait();
    });
  }

  Tensor numbers(std::initializer_list<int64_t> shape, float scale, DType dtype = DType::f32) {
    const Tensor t = zeros(dtype, shape);
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> values(static_cast<size_t>(t.num_elements()));
    for (float& v : values) v = normal(rng_);
    std::vector<uint16_t> halves(values.size());
    for (size_t i = 0; i < values.size(); ++i) halves[i] = f32_to_bf16(values[i]);
    const void* from = dtype == DType::bf16 ? static_cast<const void*>(halves.data()) : values.data();
    check(device_->upload(t, from, values.size() * dtype_bytes(dtype)));
    return t;
  }
  Tensor zeros(DType dtype, std::initializer_list<int64_t> shape) {
    Tensor t = device::dense(nullptr, dtype, shape);
    auto buffer = device_->allocate(static_cast<size_t>(t.num_elements()) * dtype_bytes(dtype), "bench");
    if (!buffer.is_ok()) stop(buffer.status);
    t.buffer = buffer->get();
    buffers_.push_back(std::move(*buffer));
    return t;
  }
  Tensor ints(const std::vector<int32_t>& values, std::initializer_list<int64_t> shape) {
    const Tensor t = zeros(DType::i32, shape);
    check(device_->upload(t, values.data(), values.size() * sizeof(int32_t)));
    return t;
  }
  // `batch` sequences of `rows` new rows; the context of sequence b is spread over the rows of a block.
  device::SequenceArgs sequences(int64_t batch, int64_t rows, int64_t context, int64_t max_blocks) {
    std::vector<int32_t> cu(1, 0), contexts, slots, blocks;
    for (int64_t b = 0; b < batch; ++b) {
      cu.push_back(static_cast<int32_t>((b + 1) * rows));
      contexts.push_back(static_cast<int32_t>(context - (context > rows ? b % 15 : 0)));
      slots.push_back(static_cast<int32_t>(b));
      for (int64_t i = 0; i < max_blocks; ++i) blocks.push_back(static_cast<int32_t>(i * batch + b));
    }
    return {ints(cu, {batch + 1}), ints(contexts, {batch}), ints(blocks, {batch, max_blocks}), ints(slots, {batch}),
            context};
  }

  void copy() {
    constexpr int64_t kBytes = int64_t{2} << 30;
    const Tensor pool = zeros(DType::i8, {2, kBytes});
    const double time = seconds([&](device::Encoder& e) { return ops::copy_slot(e, {pool, 0, 1}); });
    bandwidth_ = 2.0 * kBytes / time;
    std::printf("copy: %.2f TB/s read and written\n", bandwidth_ / 1e12);
    buffers_.clear();
  }

  // One layer of the 0.8B shape after another, each with its own state: enough layers to exceed any cache.
  void gdn(const char* what, int64_t batch, int64_t rows) {
    constexpr int64_t kHeads = 16, kDim = 128;
    const int64_t layers = rows > 1 ? 4 : std::max<int64_t>(4, 256 / batch), tokens = batch * rows;
    const int64_t context = rows > 1 ? rows : 16 * 4 + 15;
    const auto where = sequences(batch, rows, context, 1);
    const Tensor qkv = numbers({tokens, 3 * kHeads, kDim}, 1), ab = numbers({tokens, 2 * kHeads}, 1);
    const Tensor a_log = numbers({kHeads}, 0.1f), bias = numbers({kHeads}, 0.1f);
    const Tensor out = zeros(DType::f32, {tokens, kHeads, kDim});
    const Tensor state = numbers({batch, kHeads, kDim, kDim}, 0.1f), k_rows = numbers({batch, kHeads, 16, kDim}, 0.1f);
    std::vector<device::GdnArgs> args;
    for (int64_t i = 0; i < layers; ++i)
      args.push_back({device::slice(qkv, 1, 0, kHeads), device::slice(qkv, 1, kHeads, kHeads),
                      device::slice(qkv, 1, 2 * kHeads, kHeads), device::slice(ab, 1, 0, kHeads),
                      device::slice(ab, 1, kHeads, kHeads), a_log, bias, where,
                      i == 0 ? state : zeros(DType::f32, {batch, kHeads, kDim, kDim}),
                      i == 0 ? k_rows : zeros(DType::f32, {batch, kHeads, 16, kDim}),
                      zeros(DType::f32, {batch, kHeads, 16, kDim}), zeros(DType::f32, {batch, kHeads, 16}), out});
    const double time = seconds([&](device::Encoder& e) -> Status {
                          for (const auto& a : args) PAGODA_RETURN_IF_ERROR(ops::gdn(e, a));
                          return ok_status();
                        }) /
                        static_cast<double>(layers);
    const double bytes = device::op_cost(args[0]).bytes;
    std::printf("gdn %s, %lld x %lld: %.1f us a layer", what, static_cast<long long>(batch),
                static_cast<long long>(rows), time * 1e6);
    if (rows == 1) std::printf(", %.0f %% of a copy", 100 * bytes / time / bandwidth_);
    std::printf("\n");
    buffers_.clear();
  }

  void attention(int64_t batch, int64_t context) {
    constexpr int64_t kHeads = 8, kKvHeads = 2, kDim = 256, kBlock = 16, kLayers = 4;
    const int64_t max_blocks = context / kBlock, blocks = batch * max_blocks;
    const auto where = sequences(batch, 1, context, max_blocks);
    const Tensor q = numbers({batch, kHeads, kDim}, 1), out = zeros(DType::f32, {batch, kHeads, kDim});
    std::vector<device::PagedAttentionArgs> args;
    for (int64_t i = 0; i < kLayers; ++i) {
      Tensor cache[2];
      for (Tensor& c : cache) {
        c = zeros(DType::bf16, {blocks, kBlock, kKvHeads, kDim});
        c.strides[1] = kDim, c.strides[2] = kDim * kBlock;  // a head's rows are contiguous, as in the model's pools
      }
      args.push_back({q, cache[0], cache[1], where, 1.0f / 16, 0, out});
    }
    const double time = seconds([&](device::Encoder& e) -> Status {
                          for (const auto& a : args) PAGODA_RETURN_IF_ERROR(ops::paged_attention(e, a));
                          return ok_status();
                        }) /
                        kLayers;
    const double bytes = device::op_cost(args[0]).bytes;
    std::printf("paged attention decode, %lld x %lld: %.1f us a layer, %.0f %% of a copy\n",
                static_cast<long long>(batch), static_cast<long long>(context), time * 1e6,
                100 * bytes / time / bandwidth_);
    buffers_.clear();
  }

  // Weights whose values do not affect the time: one row repeated.
  std::unique_ptr<device::Weight> weight(int64_t rows, int64_t cols, WeightFormat format) {
    std::normal_distribution<float> normal(0, 0.05f);
    std::vector<uint16_t> row(static_cast<size_t>(cols));
    for (uint16_t& v : row) v = f32_to_bf16(normal(rng_));
    const device::WeightSource source{"bench", DType::bf16, rows, cols, [&](int64_t, int64_t count, std::byte* into) {
                                        const size_t bytes = row.size() * sizeof row[0];
                                        for (int64_t i = 0; i < count; ++i)
                                          std::memcpy(into + static_cast<size_t>(i) * bytes, row.data(), bytes);
                                        return ok_status();
                                      }};
    auto made = device_->make_weight(source, format);
    if (!made.is_ok()) stop(made.status);
    return std::move(*made);
  }

  // Codes and scales of any values: the time of a product does not depend on them.
  std::unique_ptr<device::Weight> stored_weight(int64_t rows, int64_t cols, WeightFormat format) {
    const QuantFormat& f = quant_format(format);
    device::WeightSource source{"bench", DType::f32, rows, cols, nullptr};
    source.read_stored = [&](int64_t, int64_t, std::span<std::byte> into) {
      for (size_t i = 0; i < into.size(); ++i) into[i] = static_cast<std::byte>(i * 37 % (size_t{1} << f.bits));
      return ok_status();
    };
    auto made = device_->make_weight(source, format);
    if (!made.is_ok()) stop(made.status);
    return std::move(*made);
  }

  void products(WeightFormat format, int64_t rows, int64_t cols) {
    constexpr int kCopies = 4;  // together larger than any cache
    std::vector<std::unique_ptr<device::Weight>> weights;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCopies; ++i)
      weights.push_back(is_stored(format) ? stored_weight(rows, cols, format) : weight(rows, cols, format));
    const double load = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto bytes = static_cast<double>(weights.front()->size_bytes());
    std::printf("%s: %.2f bits per weight, made at %.2f GB/s\n", std::string(weight_format_name(format)).c_str(),
                bytes * 8 / static_cast<double>(rows * cols), kCopies * bytes / load / 1e9);
    for (const int64_t m : {1, 8, 32, 64, 512, 2048}) {
      const Tensor x = numbers({m, cols}, 1), out = zeros(DType::f32, {m, rows});
      const double time = seconds([&](device::Encoder& e) -> Status {
                            for (const auto& w : weights)
                              PAGODA_RETURN_IF_ERROR(ops::matmul(e, {x, w.get(), Tensor{}, out}));
                            return ok_status();
                          }) /
                          kCopies;
      std::printf("  %lld rows: %.1f us, %.0f %% of the copy, %.1f TFLOP/s\n", static_cast<long long>(m), time * 1e6,
                  100 * bytes / time / bandwidth_, 2.0 * static_cast<double>(m * rows * cols) / time / 1e12);
      buffers_.clear();
    }
  }

  // The routed experts of a layer of the 35B-A3B shape.
  void experts(WeightFormat format) {
    const auto in = weight(kExperts * 2 * kInner, kHidden, format), down = weight(kExperts * kHidden, kInner, format);
    for (const int64_t tokens : {1, 32, 512, 2048}) experts(*in, *down, tokens);
  }
  void experts(const device::Weight& in, const device::Weight& down, int64_t tokens) {
    std::vector<int32_t> chosen;
    for (int64_t i = 0; i < tokens * kChosen; ++i) chosen.push_back(static_cast<int32_t>(rng_() % kExperts));
    const Tensor ids = ints(chosen, {tokens, kChosen}), x = numbers({tokens, kHidden}, 1);
    const Tensor inner = zeros(DType::f32, {tokens * kChosen, kInner});
    const Tensor out = zeros(DType::f32, {tokens * kChosen, kHidden});
    const device::ExpertMatmulArgs products[] = {
        {.x = x, .weight = &in, .num_experts = kExperts, .ids = ids, .out = inner, .silu_mul = true},
        {.x = inner, .weight = &down, .num_experts = kExperts, .ids = ids, .out = out}};
    const double time = seconds([&](device::Encoder& e) -> Status {
      for (const auto& a : products) PAGODA_RETURN_IF_ERROR(ops::expert_matmul(e, a));
      return ok_status();
    });
    std::sort(chosen.begin(), chosen.end());
    const auto used = std::unique(chosen.begin(), chosen.end()) - chosen.begin();
    double bytes = 0, operations = 0;
    for (const auto& a : products) {
      bytes += device::op_cost(a, used).bytes;
      operations += device::op_cost(a, used).operations;
    }
    std::printf("experts of 35B-A3B, %s, %lld tokens: %.1f us a layer, %.2f TB/s, %.1f TFLOP/s\n",
                std::string(weight_format_name(in.format())).c_str(), static_cast<long long>(tokens), time * 1e6,
                bytes / time / 1e12, operations / time / 1e12);
    buffers_.clear();
  }

  static constexpr int64_t kExperts = 256, kChosen = 8, kHidden = 2048, kInner = 512;  // of 35B-A3B

  std::unique_ptr<device::Device> device_;
  std::vector<std::unique_ptr<device::Buffer>> buffers_;
  std::mt19937_64 rng_{1};
  double bandwidth_ = 1;
};

// `sequences` sequences of `rows` new rows each, after `context` tokens (0: nothing before them).
model::ForwardBatch batch_of(int sequences, int rows, int context, int max_blocks, int vocab) {
  model::ForwardBatch batch;
  std::mt19937 rng(1);
  batch.cu_seqlens.push_back(0);
  for (int b = 0; b < sequences; ++b) {
    for (int i = 0; i < rows; ++i) {
      const int position = context + i;
      batch.token_ids.push_back(static_cast<int32_t>(rng() % static_cast<unsigned>(vocab)));
      batch.positions.push_back(position);
      batch.slot_mapping.push_back((int64_t{b} * max_blocks + position / 16) * 16 + position % 16);
    }
    batch.cu_seqlens.push_back((b + 1) * rows);
    batch.context_lens.push_back(context + rows);
    for (int i = 0; i < max_blocks; ++i) batch.block_tables.push_back(b * max_blocks + i);
    batch.state_slots.push_back(b);
    batch.logits_rows.push_back((b + 1) * rows - 1);
    batch.draws.push_back({.top_k = 1});  // greedy: only the id is needed
  }
  return batch;
}

void steps(const std::string& device, const std::string& shape, const std::string& format, const std::string& only) {
  ModelSource source;
  source.shape = shape;
  EngineOptions options;
  options.device = device;
  options.quantize = format;
  options.max_model_len = 4096;
  options.max_num_seqs = 64;
  options.max_num_batched_tokens = 2048;
  auto loaded = engine::load(source, options, nullptr);
  if (!loaded.is_ok()) stop(loaded.status);
  std::printf("%s, %s, %s\n", shape.c_str(), loaded->info.weight_dtype.c_str(), loaded->info.device.c_str());
  const int max_blocks = loaded->core.limits.max_blocks_per_seq;
  const struct {
    int sequences, rows, context;
  } cases[] = {{1, 1, 128}, {8, 1, 128}, {32, 1, 128}, {64, 1, 128}, {1, 2048, 0}, {1, 1, 4000}, {32, 1, 4000}};
  for (const auto& c : cases) {
    if (c.rows > loaded->core.limits.max_num_tokens) {
      std::printf("%d rows are more than a step takes (%d)\n", c.rows, loaded->core.limits.max_num_tokens);
      continue;
    }
    const std::string name = std::to_string(c.sequences) + "x" + std::to_string(c.rows);
    if (!only.empty() && only != name) continue;
    const auto batch = batch_of(c.sequences, c.rows, c.context, max_blocks, loaded->core.vocab_size);
    const auto forward = [&] { return loaded->model->forward(batch); };
    const double time = median_seconds(*loaded->device, forward), wall = median_wall_seconds(forward);
    std::printf("step of %d x %d after %d tokens: %.3f ms on the device, %.3f ms in all\n", c.sequences, c.rows,
                c.context, time * 1e3, wall * 1e3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string device = argc > 1 ? argv[1] : "cuda", shape = argc > 2 ? argv[2] : "qwen3.5-0.8b";
  const std::string part = argc > 3 ? argv[3] : "all";
  if (argc > 4) g_rounds = std::max(1, std::atoi(argv[4]));
  if (part == "all" || part == "ops") OpBench(device).run();
  if (part == "experts") OpBench(device).run_experts();
  if (part == "products") OpBench(device).run_products();
  for (const std::string format : {"bf16", "8bit", "4bit"})
    if (part == "all" || part == format) steps(device, shape, format, argc > 5 ? argv[5] : "");
}
