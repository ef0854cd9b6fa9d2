// Measures an image on a model with a shape: the vision tower, its operations as a share of the machine's measured
// peak, and the text model's pass over the image's tokens. Weights are pseudo-random. On a GPU the operations are
// kernels, timed one after the other.
// Build: make -C Tools/native vision_bench
// Usage: vision_bench [SHAPE [WIDTHxHEIGHT [DEVICE [QUANTIZE [ROUNDS [THREADS]]]]]]
//        (default qwen3.5-0.8b 1024x1024 cpu 8bit 3 0)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "device/registry.h"
#include "device/support.h"
#include "engine/load/loader.h"
#include "engine/load/vision.h"
#include "model/model.h"
#include "model/vision/tower.h"
#include "pagoda/bench.h"

namespace {

using namespace pagoda;
using Shape = std::vector<int64_t>;

struct TowerShape {
  const char* model;
  int32_t depth, width, inner, heads, out;
};
constexpr TowerShape kTowers[] = {{"qwen3.5-0.8b", 12, 768, 3072, 12, 1024},
                                  {"qwen3.5-2b", 24, 1024, 4096, 16, 2048},
                                  {"qwen3.5-4b", 24, 1024, 4096, 16, 2560},
                                  {"qwen3.5-9b", 27, 1152, 4304, 16, 4096},
                                  {"qwen3.5-27b", 27, 1152, 4304, 16, 5120}};

template <class T>
T need(Result<T> result) {
  if (result.is_ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status.message.c_str());
  std::exit(1);
}

struct Seconds {
  double wall = std::numeric_limits<double>::max(), processor = 0;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

io::VisionConfig config_of(const TowerShape& shape) {
  io::VisionConfig config;
  config.depth = shape.depth;
  config.hidden_size = shape.width;
  config.intermediate_size = shape.inner;
  config.num_heads = shape.heads;
  config.out_hidden_size = shape.out;
  config.position_side = 48;
  config.tensor_prefix = "model.visual.";
  return config;
}

std::map<std::string, Shape> tensors_of(const io::VisionConfig& c) {
  const int64_t width = c.hidden_size, inner = c.intermediate_size, merged = c.merged_size();
  std::map<std::string, Shape> all = {{"pos_embed.weight", {int64_t{c.position_side} * c.position_side, width}}};
  const auto add = [&](const std::string& name, int64_t rows, int64_t cols) {  // 0 columns: a norm
    all[name + ".weight"] = cols > 0 ? Shape{rows, cols} : Shape{rows};
    all[name + ".bias"] = {rows};
  };
  add("patch_embed.proj", width, c.patch_dim());
  for (int32_t i = 0; i < c.depth; ++i) {
    const std::string block = concat("blocks.", i, ".");
    for (const char* norm : {"norm1", "norm2"}) add(block + norm, width, 0);
    add(block + "attn.qkv", 3 * width, width);
    add(block + "attn.proj", width, width);
    add(block + "mlp.linear_fc1", inner, width);
    add(block + "mlp.linear_fc2", width, inner);
  }
  add("merger.norm", width, 0);
  add("merger.linear_fc1", merged, merged);
  add("merger.linear_fc2", c.out_hidden_size, merged);
  return all;
}

// A safetensors file in bf16: numbers from -1/16 to 1/16.
std::vector<uint8_t> make_file(const io::VisionConfig& config) {
  std::string header;
  uint64_t end = 0;
  for (const auto& [name, shape] : tensors_of(config)) {
    uint64_t bytes = 2;
    std::string sizes;
    for (const int64_t size : shape) {
      bytes *= static_cast<uint64_t>(size);
      sizes += concat(sizes.empty() ? "" : ",", size);
    }
    header += concat(header.empty() ? "{" : ",", "\"", config.tensor_prefix, name, R"(":{"dtype":"BF16","shape":[)",
                     sizes, R"(],"data_offsets":[)", end, ",", end + bytes, "]}");
    end += bytes;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::vector<uint8_t> file(8 + header.size() + end);
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<uint8_t>(header.size() >> (8 * i));
  std::copy(header.begin(), header.end(), file.begin() + 8);
  uint64_t random = 1;
  for (size_t i = 8 + header.size(); i < file.size(); i += 2) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    file[i] = static_cast<uint8_t>(random >> 40);
    file[i + 1] = static_cast<uint8_t>(0x3d ^ (random >> 63 << 7));
  }
  return file;
}

PreparedImage make_image(const io::VisionConfig& config, int32_t width, int32_t height) {
  std::vector<uint8_t> pixels(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 7 / 3);
  ImageOptions options;
  options.patch_size = config.patch_size;
  options.merge_size = config.merge_size;
  options.temporal_patch_size = config.temporal_patch_size;
  PreparedImageResult made = prepare_image(pixels.data(), static_cast<int64_t>(pixels.size()), width, height, options);
  return need(Result<PreparedImage>(made.status.is_ok() ? Result<PreparedImage>(made.image) : made.status));
}

// Of the fastest of several rounds; the processor time is that of all threads in that round.
template <class Body>
Seconds best_of(int rounds, Body&& body) {
  Seconds best;
  for (int i = 0; i < rounds; ++i) {
    const std::clock_t start = std::clock();
    const double wall = body(), processor = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (wall < best.wall) best = {wall, processor};
  }
  return best;
}

double run_tower(model::VisionTower& tower, const PreparedImage& image) {
  std::vector<float> rows(static_cast<size_t>(image.num_tokens()) * static_cast<size_t>(tower.config().row_size()));
  const double start = now();
  if (Status status = tower.begin(image, rows); !status.is_ok()) need(Result<bool>(status));
  while (!need(tower.advance())) {
  }
  return now() - start;
}

// Seconds until the first token after a prompt of that many tokens.
double run_text(engine::LoadedModel& loaded, int32_t num_tokens) {
  Request request;
  for (int32_t i = 0; i < num_tokens; ++i) request.prompt_ids.push_back(1 + (i * 7919) % 1000);
  request.sampling.max_tokens = 1;
  engine::CoreConfig config = loaded.core;
  config.prefix_cache = false;
  engine::EngineCore core(*loaded.model, config);
  const double start = now();
  core.add(need(core.prepare(request, 1, [](void*, const Event*) {}, nullptr)));
  while (core.has_work()) core.step();
  return now() - start;
}

// Times of an image's operations. On a GPU those of its kernels, and `counted` has the operations by op.
std::vector<OpTime> time_operations(device::Device& device, model::VisionTower& tower, const PreparedImage& image,
                                    std::vector<OpTime>& counted) {
  device.set_profiling(true);
  run_tower(tower, image);
  counted = device.take_profile();
  device.set_profiling(false);
  if (!device.info().runs_beside_host) return counted;
  device::set_kernel_timing(device, true);
  run_tower(tower, image);
  std::vector<OpTime> kernels = device.take_profile();
  device::set_kernel_timing(device, false);
  return kernels;
}

// All kernels, or ops, whose name starts with `name`, with the operations of such ops.
OpTime sum_of(const char* title, const std::string& name, const std::vector<OpTime>& times,
              const std::vector<OpTime>& counted) {
  OpTime sum{.name = title};
  for (const OpTime& op : times)
    if (op.name.starts_with(name)) sum.seconds += op.seconds, sum.calls += op.calls, sum.kind = op.kind;
  for (const OpTime& op : counted)
    if (op.name.starts_with(name)) sum.operations += op.operations;
  return sum;
}

// What products of 8-bit numbers are compared with; a GPU multiplies them as 16-bit numbers.
double peak_of(const OpTime& op, const MachineLimits& limits) {
  return op.kind == OpLimit::int8 && limits.num_threads > 0 ? limits.int8_ops_per_second : limits.bf16_ops_per_second;
}

void print_operations(std::vector<OpTime> times, const std::vector<OpTime>& counted, const MachineLimits& limits) {
  const OpTime products = sum_of("all products", "matmul", times, counted),
               attention = sum_of("all attention", "paged_attention", times, counted);
  times.insert(times.end(), {products, attention});
  std::ranges::sort(times, std::greater{}, &OpTime::seconds);
  std::printf("%-24s %7s %9s %9s %9s %7s\n", "operation", "calls", "ms", "GFLOP", "TFLOP/s", "% peak");
  for (const OpTime& op : times) {
    const double speed = op.seconds > 0 ? op.operations / op.seconds : 0;
    std::printf("%-24s %7lld %9.2f %9.1f %9.2f %7.1f\n", op.name.c_str(), static_cast<long long>(op.calls),
                op.seconds * 1e3, op.operations * 1e-9, speed * 1e-12, 100 * speed / peak_of(op, limits));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) { return std::string(argc > i ? argv[i] : otherwise); };
  const std::string name = argument(1, "qwen3.5-0.8b"), size = argument(2, "1024x1024"), device = argument(3, "cpu");
  const int rounds = std::atoi(argument(5, "3").c_str()), threads = std::atoi(argument(6, "0").c_str());
  const auto* shape = std::ranges::find(kTowers, name, &TowerShape::model);
  const size_t cross = size.find('x');
  if (shape == std::end(kTowers) || cross == std::string::npos)
    return std::fprintf(stderr, "usage: see the head of vision_bench.cpp\n"), 1;
  const io::VisionConfig config = config_of(*shape);
  const PreparedImage image = make_image(config, std::atoi(size.c_str()), std::atoi(size.c_str() + cross + 1));

  const std::vector<uint8_t> file = make_file(config);
  const auto files = need(io::open_model_files({"", {{"model.safetensors", file.data(), file.size()}}}));
  const io::Checkpoint checkpoint = need(io::Checkpoint::open(*files));
  const WeightFormat format =
      engine::tower_format(need(model::choose_format(argument(4, "8bit"), DType::bf16, checkpoint)));
  auto made = need(device::make_device(device, threads));
  device::Device& on = *made;
  const auto tower = need(model::VisionTower::load(config, checkpoint, std::move(made), format, image.num_tokens()));
  MachineLimits limits = measure_device_limits(device, threads);
  if (!limits.status.is_ok()) limits = measure_limits(threads);

  const Seconds seen = best_of(rounds, [&] { return run_tower(*tower, image); });
  std::vector<OpTime> counted;
  const std::vector<OpTime> times = time_operations(on, *tower, image, counted);

  EngineOptions options;
  options.device = device;
  options.quantize = argument(4, "8bit");
  options.num_threads = threads;
  options.max_num_seqs = 1;
  options.max_model_len = image.num_tokens() + 64;
  auto loaded = need(engine::load({"", {}, name}, options, nullptr));
  const Seconds read = best_of(rounds, [&] { return run_text(loaded, image.num_tokens()); });

  std::printf("%s, %s on %s: %d patches, %d tokens\n", name.c_str(), size.c_str(), on.info().description.c_str(),
              image.num_patches(), image.num_tokens());
  std::printf(
      "tower %.1f ms (%s; %.1f of processor time), prefill of its tokens %.1f ms (%s; %.1f), best of %d; peak %.0f "
      "GOP/s in 8 bits (%s), %.0f "
      "GFLOP/s (%s)\n",
      seen.wall * 1e3, std::string(weight_format_name(format)).c_str(), seen.processor * 1e3, read.wall * 1e3,
      loaded.info.weight_dtype.c_str(), read.processor * 1e3, rounds, limits.int8_ops_per_second * 1e-9,
      limits.int8_instruction.c_str(), limits.bf16_ops_per_second * 1e-9, limits.bf16_instruction.c_str());
  print_operations(times, counted, limits);
  return 0;
}
