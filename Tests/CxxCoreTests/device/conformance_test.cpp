// The conformance table: every op, type and kind of shape, on every device of this machine, against the reference.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "device/registry.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

namespace {

using Outputs = std::vector<std::vector<float>>;

// Allowed: |got - wanted| <= absolute + relative |wanted|, in float against double.
struct Tolerance {
  double absolute, relative;
};
// What a device that runs the kernels of Shaders/, or the CPU on AMX tiles, may be off differs where it rounds to other
// types.
struct Tolerances {
  Tolerance tolerance, in_kernels, on_tiles;
  Tolerances(Tolerance all) : tolerance(all), in_kernels(all), on_tiles(all) {}  // NOLINT: implicit on purpose
  Tolerances(Tolerance others, Tolerance kernels) : tolerance(others), in_kernels(kernels), on_tiles(others) {}
  Tolerances(Tolerance others, Tolerance kernels, Tolerance tiles)
      : tolerance(others), in_kernels(kernels), on_tiles(tiles) {}
  Tolerance of(const std::string& name) const {
    const auto names = device::device_names();
    const bool has_tiles = name == "cpu:amx" || (name == "cpu" && std::ranges::count(names, "cpu:amx") > 0);
    return runs_kernels(name) ? in_kernels : has_tiles ? on_tiles : tolerance;
  }
};
constexpr Tolerance kExact{0, 0};              // copies and conversions
constexpr Tolerance kElementwise{1e-6, 2e-6};  // a few roundings and one exp of 1 unit in the last place
constexpr Tolerance kNorm{1e-6, 5e-6};         // the same after a sum of up to 1024 squares of one sign
constexpr Tolerance kRope{4e-6, 5e-6};         // cos and sin of angles up to 262143: libm in float against double
constexpr Tolerance kAttention{5e-6, 1e-5};    // averages of values near 1
// Over a bf16 cache AMX rounds queries and weights as the cache is rounded, to 2^-9: a score of 5 is off by
// 0.01 then, and so is the average of few values.
constexpr Tolerance kAttentionBf16{1e-2, 2e-3};
constexpr Tolerance kRecurrent{5e-6, 2e-5};  // up to 57 steps of a contracting recurrence
// Random signs: grows as sqrt k. Packed formats round activations as well: to 8 bits of a float, or to an integer of
// up to 127 for the largest of 128. Kernels round them to 8 bits of a float for bf16 and to 11 for all but f32.
Tolerances sum_of_products(int64_t k, WeightFormat format, double factor = 1) {
  const double rounding = is_quantised(format) ? 0.012 : format == WeightFormat::bf16 ? 2.5e-3 : 4e-7;
  const double in_kernels = format == WeightFormat::f32 ? 4e-7 : format == WeightFormat::bf16 ? 2.5e-3 : 4e-4;
  const double growth = std::sqrt(static_cast<double>(k)) * 4 * factor;
  return {{rounding * growth, 1e-6}, {in_kernels * growth, 1e-6}};
}
// Kernels round queries and the weights of the softmax to the cache's type: 11 or 8 bits. Tiles take whole 32 dims.
Tolerances attention_over(DType type, int64_t dim) {
  const Tolerance in_kernels = type == DType::f32 ? kAttention : Tolerance{type == DType::f16 ? 4e-3 : 3e-2, 0};
  return {kAttention, in_kernels, type == DType::bf16 && dim % 32 == 0 ? kAttentionBf16 : kAttention};
}

enum class Devices { all, without_kernels };

// Runs `make` on the reference and on each device with the same seed and compares all it returns.
void compare(const std::string& what, const Tolerances& tolerances, const std::function<Outputs(Rig&, Random&)>& make,
             Devices devices = Devices::all) {
  uint64_t start = seed(1);
  for (char c : what) start = start * 1099511628211u + static_cast<unsigned char>(c);
  Rig reference("reference");
  Random same(start);
  REQUIRE(reference.is_ok());
  const Outputs wanted = make(reference, same);
  for (const std::string& name : tested_devices()) {
    if (devices == Devices::without_kernels && runs_kernels(name)) continue;
    const Tolerance tolerance = tolerances.of(name);
    Rig rig(name);
    Random random(start);
    REQUIRE(rig.is_ok());
    const Outputs got = make(rig, random);
    REQUIRE(got.size() == wanted.size());
    for (size_t o = 0; o < got.size(); ++o) {
      REQUIRE(got[o].size() == wanted[o].size());
      for (size_t i = 0; i < got[o].size(); ++i) {
        const double error = std::abs(static_cast<double>(got[o][i]) - wanted[o][i]);
        if (error <= tolerance.absolute + tolerance.relative * std::abs(wanted[o][i])) continue;
        fail(__FILE__, __LINE__,
             name + " " + what + ": output " + std::to_string(o) + "[" + std::to_string(i) + "] is " +
                 std::to_string(got[o][i]) + ", reference " + std::to_string(wanted[o][i]) + ", error " +
                 std::to_string(error));
        break;
      }
    }
  }
}

const WeightFormat kFormats[] = {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8,
                                 WeightFormat::q4};
std::string text(WeightFormat format) { return std::string(weight_format_name(format)); }
// Kernels have no int8 caches: gpu_device_test has what they say to them.
Devices devices_for(DType type) { return type == DType::i8 ? Devices::without_kernels : Devices::all; }
const DType kKvTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8};
std::string text(DType dtype) { return std::string(dtype_name(dtype)); }
std::string text(std::initializer_list<int64_t> numbers) {
  std::string out;
  for (int64_t n : numbers) out += " " + std::to_string(n);
  return out;
}

}  // namespace

PAGODA_TEST(conformance_runs_on_every_path_of_this_machine) {
  if (std::getenv("PAGODA_TEST_DEVICE")) return note("one device was asked for");
  std::string ran;
  bool cpu_ran = false, software_ran = false;
  const std::vector<std::string> names = tested_devices();
  for (const std::string& name : names) {
    Rig rig(name);
    REQUIRE(rig.is_ok());
    const std::string& description = rig.device().info().description;
    ran += name + " (" + description + ") ";
    if (name == "cpu") cpu_ran = true;
    else if (runs_kernels(name)) software_ran = software_ran || name == "software";
    else
      CHECK(description.find(name.substr(name.find(':') + 1) + ",") !=
            std::string::npos);  // the path asked for is in use
  }
  note("devices: " + ran);
  CHECK(cpu_ran);
  CHECK(software_ran);
  const char* expected = nullptr;
  [[maybe_unused]] const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
#if defined(__x86_64__)
  __builtin_cpu_init();
  expected = __builtin_cpu_supports("avx512vl") ? "avx512" : (__builtin_cpu_supports("avx2") ? "avx2" : "portable");
  if (__builtin_cpu_supports("avx512vnni")) expected = "avx512vnni";
  if (has("cpu:amx")) expected = "amx";  // the system may refuse it
#elif defined(__aarch64__)
  expected = "neon";
#if defined(__linux__)
  const bool has_dotprod = getauxval(AT_HWCAP) >> 20 & 1, has_i8mm = (getauxval(AT_HWCAP2) >> 13 & 3) == 3;  // and bf16
#else
  const bool has_dotprod = has("cpu:neon-dotprod"), has_i8mm = has("cpu:neon-i8mm");
#endif
  if (has_dotprod) expected = "neon-dotprod";
  if (has_i8mm) expected = "neon-i8mm";
#endif
  Rig best("cpu");
  CHECK(expected && best.device().info().description.find(expected) != std::string::npos);
  CHECK_EQ(names[1], std::string("cpu:") + expected);
}

PAGODA_TEST(conformance_embedding) {
  for (WeightFormat type : kFormats)
    for (int64_t width : {1, 24, 130})
      compare("embedding " + text(type) + text({width}), kExact, [&](Rig& rig, Random& random) -> Outputs {
        device::Weight* table = rig.weight(random.normal(7 * width), 7, width, type);
        const Tensor out = rig.zeros(DType::f32, {4, width});
        CHECK_OK(ops::embedding(rig.encoder(), {rig.ints({6, 0, 3, 3}), table, out}));
        CHECK_OK(rig.finish());
        return {rig.read(out)};
      });
}

PAGODA_TEST(conformance_matmul) {
  const struct {
    int64_t m, n, k;
  } shapes[] = {{1, 1, 1},   {1, 5, 7},    {2, 3, 16},    {3, 17, 33}, {4, 64, 16},
                {6, 4, 512}, {7, 66, 130}, {13, 70, 530}, {97, 5, 40}, {101, 9, 1040}};
  for (WeightFormat type : kFormats)
    for (const auto& s : shapes)
      compare("matmul " + text(type) + text({s.m, s.n, s.k}), sum_of_products(s.k, type),
              [&](Rig& rig, Random& random) -> Outputs {
                device::Weight* weight = rig.weight(random.normal(s.n * s.k), s.n, s.k, type);
                const Tensor x = device::slice(rig.floats(random.normal(s.m * (s.k + 3)), {s.m, s.k + 3}), 1, 2, s.k);
                const Tensor bias = s.m % 2 == 0 ? rig.floats(random.normal(s.n), {s.n}) : Tensor{};
                const Tensor wide = rig.zeros(DType::f32, {s.m, s.n + 2});
                CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, device::slice(wide, 1, 1, s.n)}));
                CHECK_OK(rig.finish());
                return {rig.read(wide)};  // the columns beside the result must stay zero
              });
}

PAGODA_TEST(conformance_matmul_with_silu_mul) {
  const struct {
    int64_t m, f, k;
  } shapes[] = {{1, 1, 8}, {1, 64, 130}, {2, 65, 16}, {7, 24, 33}, {40, 200, 130}};
  for (WeightFormat type : kFormats)
    for (const auto& s : shapes) {
      const double other = 40 + 5 * std::sqrt(static_cast<double>(s.k));  // times a sum of that size
      const Tolerances tolerance = sum_of_products(s.k, type, other);
      compare("matmul silu " + text(type) + text({s.m, s.f, s.k}), tolerance, [&](Rig& rig, Random& random) -> Outputs {
        device::Weight* weight = rig.weight(random.normal(2 * s.f * s.k), 2 * s.f, s.k, type);
        const Tensor x = rig.floats(random.normal(s.m * s.k), {s.m, s.k}),
                     bias = s.m % 2 == 0 ? rig.floats(random.normal(2 * s.f, 10.0f), {2 * s.f}) : Tensor{};
        const Tensor wide = rig.zeros(DType::f32, {s.m, s.f + 2});
        CHECK_OK(ops::matmul(rig.encoder(), {x, weight, bias, device::slice(wide, 1, 1, s.f), true}));
        CHECK_OK(rig.finish());
        return {rig.read(wide)};
      });
    }
}

PAGODA_TEST(conformance_rms_norm) {
  for (int64_t width : {1, 8, 16, 100, 1024})
    for (bool has_residual : {false, true})
      compare("rms_norm" + text({width, has_residual}), kNorm, [&](Rig& rig, Random& random) -> Outputs {
        const Tensor x = rig.floats(random.normal(3 * width), {3, width}), out = rig.zeros(DType::f32, {3, width});
        const Tensor residual = has_residual ? rig.floats(random.normal(3 * width), {3, width}) : Tensor{};
        const Tensor weight = rig.floats(random.normal(width), {width});
        CHECK_OK(ops::rms_norm(rig.encoder(), {x, residual, weight, 1e-6f, has_residual ? 1.0f : 0.0f, out}));
        CHECK_OK(rig.finish());
        return {rig.read(out), rig.read(x)};
      });
}

PAGODA_TEST(conformance_qk_norm_rope) {
  const struct {
    int64_t dim, rotary;
    bool has_weight, in_place;
  } rows[] = {
      {8, 4, true, false}, {24, 6, true, true}, {64, 64, false, true}, {128, 128, true, false}, {256, 64, true, true}};
  for (const auto& row : rows)
    compare("qk_norm_rope" + text({row.dim, row.rotary}), kRope, [&](Rig& rig, Random& random) -> Outputs {
      // Each head beside its gate: q is every other piece of D.
      const Tensor both = rig.floats(random.normal(3 * 2 * 2 * row.dim), {3, 2, 2 * row.dim});
      const Tensor x = device::slice(both, 2, 0, row.dim),
                   out = row.in_place ? x : rig.zeros(DType::f32, {3, 2, row.dim});
      std::vector<float> inv_freq;
      for (int64_t i = 0; i < row.rotary / 2; ++i) inv_freq.push_back(std::pow(1e7f, -2.0f * i / row.rotary));
      const Tensor weight = row.has_weight ? rig.floats(random.normal(row.dim, 0.1f), {row.dim}) : Tensor{};
      CHECK_OK(ops::qk_norm_rope(rig.encoder(), {x, weight, 1e-6f, 1.0f, rig.ints({0, 17, 262143}),
                                                 rig.floats(inv_freq, {row.rotary / 2}), out}));
      CHECK_OK(rig.finish());
      return {rig.read(both), row.in_place ? std::vector<float>() : rig.read(out)};
    });
}

PAGODA_TEST(conformance_reshape_and_cache) {
  for (DType type : kKvTypes)
    for (int64_t dim : {8, 21, 24, 256})
      compare(
          "reshape_and_cache " + text(type) + text({dim}), kExact,
          [&](Rig& rig, Random& random) -> Outputs {
            const int64_t heads = 2;
            const Tensor k = rig.floats(random.normal(4 * heads * dim, 100.0f), {4, heads, dim});
            const Tensor v =
                rig.floats(random.normal(4 * heads * dim, 1e-6f), {4, heads, dim});  // half-precision subnormals
            const Tensor k_cache = rig.kv_cache(type, 3, 8, heads, dim), v_cache = rig.kv_cache(type, 3, 8, heads, dim);
            CHECK_OK(ops::reshape_and_cache(rig.encoder(), {k, v, rig.longs({23, 0, 9, 8}), k_cache, v_cache}));
            CHECK_OK(rig.finish());
            Outputs rows;
            for (Tensor cache : {k_cache, v_cache}) {
              cache.shape[3] = cache.strides[2];  // int8 rows with their scales
              rows.push_back(rig.read(cache));
            }
            return rows;
          },
          devices_for(type));
}

namespace {

struct AttentionShape {
  int64_t heads, kv_heads, dim, block_size;
  int32_t window;
  float softcap = 0;
  bool has_sinks = false;
};

// NaN where nothing may be read: behind the context of each sequence, where an earlier owner may have left it, and in
// partitions of 256 that end before the window. An int8 row cannot hold it. Blocks as in make_sequences(), rows
// [blocks][block_size][row_size].
void spoil_unused(std::vector<float>& rows, const Batch& batch, int64_t block_size, int64_t row_size, int32_t window) {
  const int64_t n = batch.num_sequences(), places = static_cast<int64_t>(rows.size()) / row_size;
  for (int64_t place = 0; place < places; ++place) {
    const int64_t block = place / block_size, b = block % n, position = block / n * block_size + place % block_size;
    const int64_t first = window > 0 ? std::max<int64_t>(0, batch.cached[b] - window + 1) / 256 * 256 : 0;
    if (position >= first && position < batch.cached[b] + batch.rows[b]) continue;
    for (int64_t i = place * row_size; i < (place + 1) * row_size; ++i) rows[i] = std::nanf("");
  }
}

// Attention of a batch over random keys and values; room for `max_context` tokens in each sequence.
void compare_attention(DType type, const AttentionShape& row, const Batch& batch, int64_t max_context) {
  compare(
      "paged_attention " + text(type) + text({row.heads, row.kv_heads, row.dim, row.block_size, row.window}) +
          (row.softcap > 0 ? " softcap" : "") + (row.has_sinks ? " sinks" : ""),
      attention_over(type, row.dim),
      [&](Rig& rig, Random& random) -> Outputs {
        const int64_t max_blocks = (max_context + row.block_size - 1) / row.block_size, n = batch.num_sequences(),
                      tokens = n * max_blocks * row.block_size;
        std::vector<float> keys = random.normal(tokens * row.kv_heads * row.dim), values = random.normal(keys.size());
        if (type != DType::i8)
          for (std::vector<float>* rows : {&keys, &values})
            spoil_unused(*rows, batch, row.block_size, row.kv_heads * row.dim, row.window);
        const Tensor k = rig.floats(keys, {tokens, row.kv_heads, row.dim}),
                     v = rig.floats(values, {tokens, row.kv_heads, row.dim});
        const Tensor k_cache = rig.kv_cache(type, n * max_blocks, row.block_size, row.kv_heads, row.dim),
                     v_cache = rig.kv_cache(type, n * max_blocks, row.block_size, row.kv_heads, row.dim);
        std::vector<int64_t> slots(static_cast<size_t>(tokens));
        for (int64_t i = 0; i < tokens; ++i) slots[i] = i;
        CHECK_OK(ops::reshape_and_cache(rig.encoder(), {k, v, rig.longs(slots), k_cache, v_cache}));
        const int64_t t = batch.num_rows();
        const Tensor q = rig.floats(random.normal(t * row.heads * row.dim), {t, row.heads, row.dim});
        const Tensor out = rig.zeros(DType::f32, {t, row.heads, row.dim});
        // Above and below the scores.
        const Tensor sinks = row.has_sinks ? rig.floats(random.normal(row.heads, 5.0f), {row.heads}) : Tensor{};
        CHECK_OK(ops::paged_attention(
            rig.encoder(), {q, k_cache, v_cache, make_sequences(rig, batch, row.block_size, max_blocks),
                            1.0f / std::sqrt(static_cast<float>(row.dim)), row.window, out, row.softcap, sinks}));
        CHECK_OK(rig.finish());
        return {rig.read(out)};
      },
      devices_for(type));
}

}  // namespace

// The last sequence fills its row of the block table.
PAGODA_TEST(conformance_paged_attention) {
  const AttentionShape shapes[] = {{4, 2, 8, 16, 0},
                                   {3, 1, 24, 8, 0},
                                   {4, 1, 64, 32, 0},
                                   {2, 1, 256, 16, 0},
                                   {4, 1, 32, 16, 5},
                                   {6, 2, 16, 8, 40},
                                   {20, 1, 16, 16, 0},
                                   {140, 1, 16, 16, 0},
                                   {6, 2, 32, 8, 40},
                                   {140, 1, 32, 16, 0},
                                   {4, 2, 32, 16, 0, 1.5f},
                                   {6, 2, 32, 8, 40, 0, true},
                                   {3, 1, 24, 16, 0, 0.5f, true}};
  for (DType type : kKvTypes)
    for (const AttentionShape& shape : shapes) compare_attention(type, shape, {{0, 70, 31, 95}, {37, 1, 4, 1}}, 96);
}

// One row at each side of the borders of pieces and partitions, and a tile that crosses one.
PAGODA_TEST(conformance_paged_attention_over_partitions) {
  const Batch batch{{0, 30, 31, 32, 254, 255, 256, 510, 511, 512, 1099, 505}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20}};
  for (DType type : kKvTypes)
    for (int32_t window : {0, 300})
      for (int64_t dim : type == DType::bf16 ? std::vector<int64_t>{8, 32} : std::vector<int64_t>{8})
        compare_attention(type, {4, 1, dim, 16, window, window / 200.0f, window > 0}, batch, 1104);
}

// Alone, a long sequence is split over the threads.
PAGODA_TEST(conformance_paged_attention_of_one_long_sequence) {
  for (DType type : kKvTypes)
    for (int32_t window : {0, 600})
      for (int64_t dim : type == DType::bf16 ? std::vector<int64_t>{24, 32} : std::vector<int64_t>{24})
        compare_attention(type, {6, 2, dim, 32, window}, {{1500}, {1}}, 1504);
}

PAGODA_TEST(conformance_gates) {
  for (int64_t dim : {3, 16, 100})
    compare("sigmoid_gate" + text({dim}), kElementwise, [&](Rig& rig, Random& random) -> Outputs {
      // Large arguments too: exp overflows and fades out inside.
      const Tensor x = rig.floats(random.normal(3 * 2 * dim), {3, 2, dim}),
                   both = rig.floats(random.normal(3 * 2 * 2 * dim, 60.0f), {3, 2, 2 * dim});
      const Tensor gated = rig.zeros(DType::f32, {3, 2, dim});
      CHECK_OK(ops::sigmoid_gate(rig.encoder(), {x, device::slice(both, 2, dim, dim), gated}));
      CHECK_OK(rig.finish());
      return {rig.read(gated)};
    });
}

PAGODA_TEST(conformance_gated_rms_norm) {
  for (int64_t dim : {8, 24, 128})
    compare("gated_rms_norm" + text({dim}), kNorm, [&](Rig& rig, Random& random) -> Outputs {
      const Tensor x = rig.floats(random.normal(3 * 2 * dim), {3, 2, dim}),
                   both = rig.floats(random.normal(3 * 2 * 2 * dim, 3.0f), {3, 2, 2 * dim});
      const Tensor out = rig.zeros(DType::f32, {3, 2, dim});
      CHECK_OK(ops::gated_rms_norm(
          rig.encoder(), {x, device::slice(both, 2, dim, dim), rig.floats(random.normal(dim), {dim}), 1e-6f, out}));
      CHECK_OK(rig.finish());
      return {rig.read(out)};
    });
}

PAGODA_TEST(conformance_causal_conv1d) {
  const Batch batch{{0, 9, 3, 1}, {5, 1, 2, 3}};
  for (int64_t kernel : {2, 4, 8})
    for (int64_t channels : {5, 40, 300})
      compare("causal_conv1d" + text({kernel, channels}), kNorm, [&](Rig& rig, Random& random) -> Outputs {
        const int64_t t = batch.num_rows();
        const Tensor x = rig.floats(random.normal(t * channels), {t, channels}),
                     out = rig.zeros(DType::f32, {t, channels});
        const Tensor tail = rig.floats(random.normal(6 * (kernel - 1) * channels), {6, kernel - 1, channels});
        CHECK_OK(ops::causal_conv1d(rig.encoder(), {x, rig.floats(random.normal(channels * kernel), {kernel, channels}),
                                                    tail, make_sequences(rig, batch, 16, 4), out}));
        CHECK_OK(rig.finish());
        return {rig.read(out), rig.read(tail)};
      });
}

PAGODA_TEST(conformance_gdn) {
  const struct {
    int64_t k_heads, v_heads, dk, dv;
  } rows[] = {{1, 1, 8, 8}, {2, 4, 24, 40}, {2, 2, 16, 16}, {1, 3, 5, 70}, {1, 2, 128, 128}};
  const Batch first{{0, 0, 0, 0}, {5, 15, 16, 40}}, second{{5, 15, 16, 40}, {1, 3, 17, 9}}, spoiling{{0}, {192}};
  for (const auto& row : rows)
    compare("gdn" + text({row.k_heads, row.v_heads, row.dk, row.dv}), kRecurrent,
            [&](Rig& rig, Random& random) -> Outputs {
              const Tensor state = rig.zeros(DType::f32, {5, row.v_heads, row.dk, row.dv});
              const Tensor k_rows = rig.zeros(DType::f32, {5, row.k_heads, 16, row.dk}),
                           u_rows = rig.zeros(DType::f32, {5, row.v_heads, 16, row.dv});
              const Tensor g_rows = rig.zeros(DType::f32, {5, row.v_heads, 16});
              const Tensor a_log = rig.floats(random.normal(row.v_heads), {row.v_heads});
              const Tensor dt_bias =
                  rig.floats(std::vector<float>(row.v_heads, -4.0f), {row.v_heads});  // slow decay: old rows matter
              Outputs outputs;
              for (const Batch* batch : {&spoiling, &first, &second}) {
                const bool spoils = batch == &spoiling;  // no number of it may come into what follows
                const int64_t t = batch->num_rows(), keys = row.k_heads * row.dk, values = row.v_heads * row.dv;
                // q, k and v lie side by side in a row, as the convolution leaves them.
                const Tensor qkv = rig.floats(random.normal(t * (2 * keys + values), spoils ? std::nanf("") : 1.0f),
                                              {t, 2 * keys + values});
                const Tensor out = rig.zeros(DType::f32, {t, row.v_heads, row.dv});
                CHECK_OK(ops::gdn(rig.encoder(),
                                  {device::split_last(device::slice(qkv, 1, 0, keys), row.k_heads, row.dk),
                                   device::split_last(device::slice(qkv, 1, keys, keys), row.k_heads, row.dk),
                                   device::split_last(device::slice(qkv, 1, 2 * keys, values), row.v_heads, row.dv),
                                   rig.floats(random.normal(t * row.v_heads, 2.0f), {t, row.v_heads}),
                                   rig.floats(random.normal(t * row.v_heads), {t, row.v_heads}), a_log, dt_bias,
                                   make_sequences(rig, *batch, 16, 12), state, k_rows, u_rows, g_rows, out}));
                CHECK_OK(rig.finish());
                for (const Tensor& pool : {state, k_rows, u_rows, g_rows})
                  if (spoils) CHECK_OK(ops::zero_slots(rig.encoder(), {pool, rig.ints({1})}));
                  else outputs.push_back(rig.read(pool));
                if (!spoils) outputs.push_back(rig.read(out));
              }
              return outputs;
            });
}

PAGODA_TEST(conformance_gather_rows) {
  compare("gather_rows", kExact, [&](Rig& rig, Random& random) -> Outputs {
    const Tensor x = rig.floats(random.normal(5 * 37), {5, 37}), out = rig.zeros(DType::f32, {3, 37});
    CHECK_OK(ops::gather_rows(rig.encoder(), {x, rig.ints({4, 0, 4}), out}));
    CHECK_OK(rig.finish());
    return {rig.read(out)};
  });
}

PAGODA_TEST(conformance_zero_slots_leaves_other_slots_alone) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name);
    const std::vector<float> before(5 * 2 * 3, 1.0f);
    const Tensor pool = rig.floats(before, {5, 2, 3});
    CHECK_OK(ops::zero_slots(rig.encoder(), {pool, rig.ints({4, 1})}));
    CHECK_OK(rig.finish());
    const std::vector<float> after = rig.read(pool);
    for (size_t i = 0; i < after.size(); ++i) CHECK_EQ(after[i], i / 6 == 4 || i / 6 == 1 ? 0.0f : 1.0f);
  }
}

PAGODA_TEST(conformance_copy_slot_leaves_other_slots_alone) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name);
    constexpr size_t kSlot = 3 * 20000;  // several tasks
    std::vector<float> before(5 * kSlot);
    for (size_t i = 0; i < before.size(); ++i) before[i] = static_cast<float>(i);
    const Tensor pool = rig.floats(before, {5, 3, 20000});
    CHECK_OK(ops::copy_slot(rig.encoder(), {pool, 3, 1}));
    CHECK_OK(ops::copy_slot(rig.encoder(), {pool, 4, 3}));
    CHECK_OK(ops::copy_slot(rig.encoder(), {pool, 2, 2}));
    CHECK_OK(rig.finish());
    const std::vector<float> after = rig.read(pool);
    const size_t from[] = {0, 3, 2, 4, 4};
    for (size_t i = 0; i < after.size(); ++i) REQUIRE(after[i] == before[from[i / kSlot] * kSlot + i % kSlot]);
  }
}
