// Weights for GPUs: the same bytes for any number of threads and rounds, in visible and in staged memory.
#include "device/gpu/weights/weight_loader.h"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/cuda/fake_cuda.h"
#include "device/gpu/far_backend.h"
#include "device/rig.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

using namespace device;
using namespace device::gpu;

constexpr int64_t kRows = 150;

struct Matrix {
  Matrix(int64_t num_cols, DType type) : cols(num_cols), dtype(type) {
    for (const float value : Random(seed(3)).normal(kRows * cols)) {
      const uint16_t half = dtype == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
      const auto* from =
          dtype == DType::f32 ? reinterpret_cast<const std::byte*>(&value) : reinterpret_cast<const std::byte*>(&half);
      bytes.insert(bytes.end(), from, from + dtype_bytes(dtype));
    }
  }
  WeightSource source() const {
    WeightSource made{"w", dtype, kRows, cols, nullptr};
    made.read_rows = [this](int64_t begin, int64_t count, std::byte* into) {
      const size_t row = bytes.size() / kRows;
      std::memcpy(into, bytes.data() + static_cast<size_t>(begin) * row, static_cast<size_t>(count) * row);
      return ok_status();
    };
    return made;
  }
  int64_t cols;
  DType dtype;
  std::vector<std::byte> bytes;
};

std::vector<std::byte> loaded(Backend& backend, const Matrix& matrix, WeightFormat format,
                              const LoaderOptions& options) {
  WeightLoader loader(backend, options);
  const auto weight = loader.make(matrix.source(), format);
  CHECK_OK(weight);
  CHECK_OK(loader.finish());
  std::vector<std::byte> bytes((*weight)->size_bytes());
  CHECK_OK(backend.download(*static_cast<const GpuWeight&>(**weight).buffer(), 0, bytes.data(), bytes.size()));
  return bytes;
}

std::unique_ptr<software::SoftwareBackend> software_backend() {
  return std::move(*software::SoftwareBackend::create({.num_threads = 1}));
}

constexpr WeightFormat kFormats[] = {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8,
                                     WeightFormat::q4};

// The fake driver copies only when it is waited for, so that memory which changes too early is noticed.
struct LateCopy {
  cuda::DeviceAddress to;
  const void* from;
  size_t bytes;
};
std::vector<LateCopy>& late_copies() {
  static std::vector<LateCopy> copies;
  return copies;
}
cuda::CudaResult copy_now(cuda::Handle) {
  for (const LateCopy& c : late_copies()) std::memcpy(reinterpret_cast<void*>(c.to), c.from, c.bytes);
  late_copies().clear();
  return 0;
}

std::unique_ptr<cuda::CudaBackend> late_backend() {
  cuda::Driver driver = fake_driver();
  driver.cuMemcpyHtoDAsync_v2 = [](cuda::DeviceAddress to, const void* from, size_t bytes, cuda::Handle) {
    late_copies().push_back({to, from, bytes});
    return 0;
  };
  driver.cuEventSynchronize = copy_now;
  driver.cuStreamSynchronize = copy_now;
  return std::move(*cuda::CudaBackend::make(driver, fake_nvrtc(), generated::files(), {}));
}

// Bytes of the host, from the beginning of a page on or not.
class HostBytes final : public device::Buffer {
 public:
  HostBytes(std::span<const std::byte> bytes, bool begins_page)
      : memory_(bytes.size() + 2 * kPage), size_(bytes.size()) {
    first_ = kPage - reinterpret_cast<uintptr_t>(memory_.data()) % kPage + (begins_page ? 0 : 64);
    std::copy(bytes.begin(), bytes.end(), host_pointer());
  }
  size_t size_bytes() const noexcept override { return size_; }
  std::byte* host_pointer() noexcept override { return memory_.data() + first_; }

 private:
  static constexpr size_t kPage = 16384;
  std::vector<std::byte> memory_;
  size_t first_ = 0, size_;
};

std::unique_ptr<device::Buffer> host_bytes(std::span<const std::byte> bytes, bool begins_page = false) {
  return std::make_unique<HostBytes>(bytes, begins_page);
}

}  // namespace

PAGODA_TEST(gpu_weight_loader_gives_the_same_bytes_for_any_number_of_threads) {
  fake_cuda() = {};
  FarBackend::Counts counts;
  const auto near = software_backend();
  FarBackend far(software_backend(), counts);
  const auto late = late_backend();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const int64_t cols : {128, 96}) {
      const Matrix matrix(cols, dtype);
      for (const WeightFormat format : kFormats) {
        const std::vector<std::byte> expected = loaded(*near, matrix, format, {.num_threads = 1});
        for (const int threads : {1, 2, 5})
          for (const int64_t round_bytes : {int64_t{1} << 20, int64_t{4096}, int64_t{1}}) {
            const LoaderOptions options{threads, round_bytes, 1024};
            CHECK(loaded(*near, matrix, format, options) == expected);
            CHECK(loaded(far, matrix, format, options) == expected);
            CHECK(loaded(*late, matrix, format, options) == expected);
          }
      }
    }
}

// Bytes of a cache become the same weight on any backend, with any number of threads and rounds.
PAGODA_TEST(gpu_weight_loader_adopts_the_bytes_of_a_weight) {
  fake_cuda() = {};
  FarBackend::Counts counts;
  const auto near = software_backend();
  FarBackend far(software_backend(), counts);
  const auto late = late_backend();
  for (const WeightFormat format : kFormats) {
    const std::vector<std::byte> bytes = loaded(*near, Matrix(96, DType::f32), format, {.num_threads = 1});
    for (const LoaderOptions& options :
         {LoaderOptions{1, int64_t{1} << 20, int64_t{1} << 20}, {3, int64_t{1} << 20, 512}, {2, 4096, 1000}}) {
      for (Backend* const backend : std::initializer_list<Backend*>{near.get(), &far, late.get()}) {
        WeightLoader loader(*backend, options);
        const auto weight = loader.adopt(format, kRows, 96, host_bytes(bytes));
        REQUIRE_OK(weight);
        CHECK_OK(loader.finish());
        std::vector<std::byte> there(bytes.size());
        CHECK_OK(backend->download(*static_cast<const GpuWeight&>(**weight).buffer(), 0, there.data(), there.size()));
        CHECK(there == bytes && (*weight)->rows() == kRows && (*weight)->format() == format);
      }
    }
    WeightLoader loader(*near);
    for (const size_t size : {size_t{0}, bytes.size() - 1})
      CHECK(loader.adopt(format, kRows, 96, host_bytes(std::span(bytes).first(size), true)).status.code ==
            StatusCode::invalid_argument);
  }
}

// Memory that begins at a page, as every matrix of a cache does, is not copied where host and device share memory.
PAGODA_TEST(gpu_weight_loader_shares_pages) {
  fake_cuda() = {};
  const auto near = software_backend();
  const auto late = late_backend();
  const std::vector<std::byte> bytes = loaded(*near, Matrix(96, DType::f32), WeightFormat::q8, {.num_threads = 1});
  for (const bool begins_page : {true, false})
    for (Backend* const backend : std::initializer_list<Backend*>{near.get(), late.get()}) {
      auto memory = host_bytes(bytes, begins_page);
      const std::byte* const at = memory->host_pointer();
      WeightLoader loader(*backend);
      const auto weight = loader.adopt(WeightFormat::q8, kRows, 96, std::move(memory));
      REQUIRE_OK(weight);
      CHECK_OK(loader.finish());
      CHECK_EQ((*weight)->bytes().data() == at, begins_page && backend == near.get());
    }
}

PAGODA_TEST(gpu_weight_loader_copies_rows_of_the_same_type) {
  const auto near = software_backend();
  Matrix matrix(128, DType::bf16);
  matrix.bytes[0] = std::byte{0x81};  // a signalling NaN, which a conversion to floats and back would change
  matrix.bytes[1] = std::byte{0x7f};
  const std::vector<std::byte> bytes = loaded(*near, matrix, WeightFormat::bf16, {});
  CHECK(std::equal(matrix.bytes.begin(), matrix.bytes.end(), bytes.begin()));
}

PAGODA_TEST(gpu_weight_loader_reads_on_several_threads) {
  const auto near = software_backend();
  const Matrix matrix(128, DType::f32);
  std::mutex mutex;
  std::condition_variable entered;
  std::set<std::thread::id> threads;
  WeightSource source = matrix.source();
  source.read_rows = [&, read = source.read_rows](int64_t begin, int64_t count, std::byte* into) {
    std::unique_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
    entered.notify_all();
    entered.wait_for(lock, std::chrono::minutes(1), [&] { return threads.size() > 1; });
    return read(begin, count, into);
  };
  WeightLoader loader(*near, {.num_threads = 2, .task_bytes = 1024});
  CHECK_OK(loader.make(source, WeightFormat::q4));
  CHECK(threads.size() > 1);
}

PAGODA_TEST(gpu_weight_loader_names_the_first_bad_row) {
  FarBackend::Counts counts;
  FarBackend far(software_backend(), counts);
  Matrix matrix(128, DType::f32);
  const float infinity = HUGE_VALF;
  for (const size_t row : {141, 77, 120}) std::memcpy(&matrix.bytes[row * 512 + 8], &infinity, 4);
  for (const int threads : {1, 4}) {
    WeightLoader loader(far, {threads, int64_t{1} << 20, 512});
    CHECK_EQ(loader.make(matrix.source(), WeightFormat::q8).status.message,
             std::string("weight w: row 77 has a number that 8bit cannot hold"));
  }
}

PAGODA_TEST(gpu_weight_loader_ends_when_progress_is_refused) {
  const auto near = software_backend();
  const Matrix matrix(128, DType::f32);
  WeightSource source = matrix.source();
  int64_t num_rows = 0;
  source.rows_done = [&](int64_t rows) {
    num_rows += rows;
    return num_rows < kRows / 2 ? ok_status() : make_error(StatusCode::cancelled, "enough");
  };
  WeightLoader loader(*near, {2, 8192, 512});
  CHECK_EQ(loader.make(source, WeightFormat::bf16).status.message, std::string("enough"));
  CHECK(num_rows < kRows);
}

}  // namespace pagoda::test
