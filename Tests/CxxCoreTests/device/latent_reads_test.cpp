// latent_attention at a context of 16k reads the latent cache about once for all heads. The kernels' own source is
// compiled here with element types whose loads go through a model of a core's cache: a miss counts as a read from
// memory.
#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "device/conformance.h"
#include "device/cpu/cpu_ops.h"
#include "device/cpu/dispatch.h"
#include "device/host/host_memory.h"
#include "ops/ops.h"
#include "support/test.h"

#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpsabi"  // 64-byte vectors are passed only to inlined functions
#pragma clang diagnostic ignored "-Wunused-function"

namespace pagoda::device::cpu::counting {

// Lines of 64 bytes in sets of 16, with LRU eviction. Half of the smallest L2 cache of current servers, since queries
// and sums need space too.
class CacheModel {
 public:
  void touch(const void* address, size_t size_bytes) noexcept {
    const auto begin = reinterpret_cast<uintptr_t>(address) / 64,
               end = (reinterpret_cast<uintptr_t>(address) + size_bytes - 1) / 64;
    for (uintptr_t line = begin; line <= end; ++line) touch_line(line);
  }
  int64_t missed_bytes() const noexcept { return missed_ * 64; }

 private:
  static constexpr size_t kWays = 16, kSets = (512 << 10) / 64 / kWays;

  void touch_line(uintptr_t line) noexcept {
    uintptr_t* ways = ways_[line % kSets];  // the most recent first
    uintptr_t* found = std::find(ways, ways + kWays, line);
    if (found == ways + kWays) {
      ++missed_;
      --found;
    }
    std::move_backward(ways, found, found + 1);
    *ways = line;
  }

  uintptr_t ways_[kSets][kWays] = {};
  int64_t missed_ = 0;
};

CacheModel*& cache_of_this_thread() {
  thread_local CacheModel* cache = nullptr;
  return cache;
}

struct Counted16 {  // bfloat16
  uint16_t bits;
};
struct Counted8 {  // int8
  int8_t value;
};

constexpr bool kFused = false, kHardwareF16 = false;
constexpr int kScoreQueries = 1, kScorePositions = 2, kValueQueries = 1, kValueVectors = 2;

#include "device/cpu/kernels/vector.h"

[[maybe_unused]] static Vec load(const Counted16* p) {
  cache_of_this_thread()->touch(p, kLanes * sizeof *p);
  return load(reinterpret_cast<const Bf16*>(p));
}
[[maybe_unused]] static Vec load(const Counted8* p) {
  cache_of_this_thread()->touch(p, kLanes * sizeof *p);
  return load(reinterpret_cast<const I8*>(p));
}

// clang-format off: order matters
#include "device/cpu/kernels/attention_parts.h"
#include "device/cpu/kernels/kv_rows.h"
#include "device/cpu/kernels/attention.h"
// clang-format on

// Caches of the threads that run kernels.
class Caches {
 public:
  void enter() {
    if (owner_of_mine() == this) return;
    const std::lock_guard lock(mutex_);
    cache_of_this_thread() = &all_.emplace_back();
    owner_of_mine() = this;
  }
  int64_t missed_bytes() const {
    int64_t bytes = 0;
    for (const CacheModel& cache : all_) bytes += cache.missed_bytes();
    return bytes;
  }
  ~Caches() { owner_of_mine() = nullptr; }

 private:
  static Caches*& owner_of_mine() {
    thread_local Caches* owner = nullptr;
    return owner;
  }
  std::mutex mutex_;
  std::list<CacheModel> all_;
};

Caches* caches = nullptr;

template <class T>
void attention_counted(const AttentionTile& tile) {
  caches->enter();
  attention<RowAttention<T>>(tile);
}
template <class T>
void partition_counted(const AttentionTile& tile, int64_t partition, float* partial) {
  caches->enter();
  attend_partition<RowAttention<T>>(tile, partition, partial);
}

// A copy of a kernel table whose attention kernels count their reads.
Kernels counting_kernels(const Kernels& others) {
  Kernels kernels = others;
  kernels.attention[kv_format_of(DType::bf16)] = attention_counted<Counted16>;
  kernels.attention[kv_format_of(DType::i8)] = attention_counted<Counted8>;
  kernels.attend_partition[kv_format_of(DType::bf16)] = partition_counted<Counted16>;
  kernels.attend_partition[kv_format_of(DType::i8)] = partition_counted<Counted8>;
  kernels.merge_partials = merge_partials;
  return kernels;
}

// The kernels of an instruction set, wrapped to count the bytes of the rows passed to them.
const Kernels* inner = nullptr;
std::atomic<int64_t> given_bytes{0};

void count_rows(const AttentionTile& tile, Range seen, DType type) {
  given_bytes += (seen.end - seen.begin) * tile.k_row_stride * static_cast<int64_t>(dtype_bytes(type)) *
                 (tile.v == tile.k ? 1 : 2);
}
template <DType Type>
void attention_given(const AttentionTile& tile) {
  count_rows(tile, reach(tile), Type);
  inner->attention[kv_format_of(Type)](tile);
}
template <DType Type>
void partition_given(const AttentionTile& tile, int64_t partition, float* partial) {
  count_rows(tile, reach(tile, partition), Type);
  inner->attend_partition[kv_format_of(Type)](tile, partition, partial);
}
template <DType... Types>
Kernels given_kernels() {
  Kernels kernels = *inner;
  ((kernels.attention[kv_format_of(Types)] = attention_given<Types>,
    kernels.attend_partition[kv_format_of(Types)] = partition_given<Types>),
   ...);
  return kernels;
}

}  // namespace pagoda::device::cpu::counting

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;
namespace counting = device::cpu::counting;

namespace {

constexpr int64_t kContext = 16384, kBlockSize = 16;
constexpr double kMostReads = 1.2;  // relative to the bytes of the latent cache

struct LatentModel {
  const char* name;
  int64_t heads, dim, value_dim;
};
constexpr LatentModel kModels[] = {
    {"DeepSeek-V2-Lite", 16, 576, 512}, {"MiniCPM3-4B", 40, 288, 256}, {"Kimi-Linear-48B-A3B", 32, 576, 512}};

// One step of decode at 16k over a cache of zeros, through the device's own op.
class Decode {
 public:
  Decode(const LatentModel& model, DType type, int num_threads) : rig_("cpu", 1) {
    Tensor cache = rig_.kv_cache(type, kContext / kBlockSize, kBlockSize, 1, model.dim);
    cache.shape[2] = model.dim;
    cache.strides[2] = 1;
    cache.rank = 3;
    cache_bytes_ = kContext * cache.strides[1] * static_cast<int64_t>(dtype_bytes(type));
    args_ = {.q = rig_.zeros(DType::f32, {1, model.heads, model.dim}),
             .cache = cache,
             .sequences = make_sequences(rig_, {{kContext - 1}, {1}}, kBlockSize, kContext / kBlockSize),
             .scale = 0.1f,
             .out = rig_.zeros(DType::f32, {1, model.heads, model.value_dim})};
    pool_ = std::move(*ThreadPool::create(num_threads));
    scratch_ = std::move(*device::host::make_buffer(
        static_cast<size_t>(num_threads * device::cpu::kThreadScratch) * sizeof(float), "scratch"));
  }

  void run(const device::cpu::Kernels& kernels) {
    const device::cpu::Context context{&kernels, pool_.get(), reinterpret_cast<float*>(scratch_->host_pointer()), {}};
    device::cpu::run(context, args_);
  }
  double times_cache(int64_t bytes) const { return static_cast<double>(bytes) / static_cast<double>(cache_bytes_); }

 private:
  Rig rig_;
  device::LatentAttentionArgs args_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<device::Buffer> scratch_;
  int64_t cache_bytes_ = 0;
};

void check_reads(const std::string& who, double ratio) {
  note(who + ": " + std::to_string(ratio) + " times the latent cache");
  CHECK(ratio <= kMostReads);
  CHECK(ratio >= 0.95);  // everything is counted; int8 rows may have padding that is not read
}

}  // namespace

PAGODA_TEST(latent_decode_reads_the_cache_about_once_from_memory) {
  const device::cpu::Kernels kernels = counting::counting_kernels(*device::cpu::find_kernels("portable"));
  for (DType type : {DType::bf16, DType::i8})
    for (int threads : type == DType::i8 ? std::vector{2} : std::vector{1, 4}) {
      Decode decode(kModels[0], type, threads);
      counting::Caches caches;
      counting::caches = &caches;
      decode.run(kernels);
      check_reads(text(type) + ", " + std::to_string(threads) + " threads", decode.times_cache(caches.missed_bytes()));
    }
}

// A kernel reads its input once from memory: a partition's keys are still in the cache when used as its values.
PAGODA_TEST(latent_decode_gives_each_row_to_the_kernels_once) {
  const auto all = device::cpu::supported_kernels();
  for (const device::cpu::Kernels* kernels : all)
    for (const LatentModel& model : kModels)
      for (DType type : kKvTypes) {
        if (kernels != all.front() && (&model != kModels || type != DType::bf16)) continue;
        counting::inner = kernels;
        counting::given_bytes = 0;
        Decode decode(model, type, 2);
        decode.run(counting::given_kernels<DType::f32, DType::f16, DType::bf16, DType::i8>());
        check_reads(std::string(kernels->name) + " " + model.name + " " + text(type),
                    decode.times_cache(counting::given_bytes));
      }
}
