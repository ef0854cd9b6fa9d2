// Pipelines and steps on an NVIDIA GPU.
#include "device/gpu/cuda/cuda_backend.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/threads/thread_pool.h"
#include "base/threads/usable_cores.h"
#include "device/gpu/cuda/cuda_buffer.h"
#include "device/gpu/launch_checks.h"

namespace pagoda::device::gpu::cuda {

// Four stages of 192 rows of 128 bytes, their barriers, and room to align them: see multiply_wide.
constexpr uint32_t kWideSharedBytes = 4 * 192 * 128 + 4 * 16 + 1024;

// A kernel with its constants; compiled in the first step that launches it.
struct CudaPipeline final : Pipeline {
  CudaPipeline(const Driver& driver, const KernelInfo& kernel, const KernelSource& source)
      : driver(driver),
        kernel(kernel),
        source(source),
        shared_bytes(kernel.file == "matmul_wide" ? kWideSharedBytes : 0) {}
  ~CudaPipeline() override {
    if (module != nullptr) driver.cuModuleUnload(module);
  }
  Status load(const std::vector<char>& code) const {
    const std::string symbol(kernel.name);
    if (module == nullptr)
      PAGODA_RETURN_IF_ERROR(cuda_status(driver, driver.cuModuleLoadData(&module, code.data()), symbol.c_str()));
    PAGODA_RETURN_IF_ERROR(
        cuda_status(driver, driver.cuModuleGetFunction(&function, module, symbol.c_str()), symbol.c_str()));
    if (shared_bytes == 0) return ok_status();
    const CudaResult raised = driver.cuFuncSetAttribute(function, kMaxDynamicShared, static_cast<int>(shared_bytes));
    if (raised != kCudaSuccess) function = nullptr;
    return cuda_status(driver, raised, symbol.c_str());
  }

  const Driver& driver;
  const KernelInfo& kernel;
  const KernelSource& source;
  const uint32_t shared_bytes;      // beside what its text declares, which can be 48 KiB at most
  std::vector<Constant> constants;  // under the kernel's own names
  mutable Handle module = nullptr, function = nullptr;
};

namespace {

std::string text_of(std::string_view kernel, std::span<const Constant> constants) {
  std::string key(kernel);
  for (const Constant& c : constants) key += concat(" ", c.name, "=", c.bits);
  return key;
}

}  // namespace

Result<std::unique_ptr<CudaBackend>> CudaBackend::make(const Driver& driver, const Nvrtc& nvrtc,
                                                       std::span<const KernelFile> files, CodeCache cache) {
  const auto check = [&](CudaResult result, const char* what) { return cuda_status(driver, result, what); };
  int count = 0, device = 0, major = 0, minor = 0, processors = 0, version = 0;
  PAGODA_RETURN_IF_ERROR(check(driver.cuInit(0), "starting NVIDIA's driver"));
  PAGODA_RETURN_IF_ERROR(check(driver.cuDeviceGetCount(&count), "counting GPUs"));
  if (count == 0) return make_error(StatusCode::unsupported, "cuda: NVIDIA's driver shows no GPU");
  char name[128] = {};
  size_t memory = 0;
  PAGODA_RETURN_IF_ERROR(check(driver.cuDeviceGet(&device, 0), "opening the first GPU"));
  PAGODA_RETURN_IF_ERROR(check(driver.cuDeviceGetName(name, sizeof name - 1, device), "asking for the GPU's name"));
  PAGODA_RETURN_IF_ERROR(check(driver.cuDeviceTotalMem_v2(&memory, device), "asking for the GPU's memory"));
  PAGODA_RETURN_IF_ERROR(check(driver.cuDeviceGetAttribute(&major, kMajor, device), "asking for the GPU's kind"));
  PAGODA_RETURN_IF_ERROR(check(driver.cuDeviceGetAttribute(&minor, kMinor, device), "asking for the GPU's kind"));
  PAGODA_RETURN_IF_ERROR(
      check(driver.cuDeviceGetAttribute(&processors, kMultiprocessors, device), "asking for the GPU's size"));
  if (major < 8)
    return make_error(StatusCode::unsupported, concat("cuda: ", name, " has compute capability ", major, ".", minor,
                                                      ", and bf16 products need 8.0"));
  Handle context = nullptr, stream = nullptr;
  PAGODA_RETURN_IF_ERROR(check(driver.cuDevicePrimaryCtxRetain(&context, device), "opening the GPU"));
  CudaResult result = driver.cuCtxSetCurrent(context);
  constexpr unsigned kNonBlocking = 1;
  size_t free = 0;
  if (result == kCudaSuccess) result = driver.cuMemGetInfo_v2(&free, &memory);
  if (result == kCudaSuccess) result = driver.cuStreamCreate(&stream, kNonBlocking);
  if (result != kCudaSuccess) {
    driver.cuDevicePrimaryCtxRelease_v2(device);
    return check(result, "opening the GPU");
  }
  driver.cuDriverGetVersion(&version);
  DeviceInfo info{"cuda",
                  concat(name, ", ", processors, " multiprocessors, CUDA ", version / 1000, ".", version % 1000 / 10),
                  static_cast<int64_t>(std::min(memory / 10 * 9, free / 100 * 97))};  // others may use the GPU too
  info.step_tokens = 2048;
  info.has_own_memory = true;
  int has_timeout = 0;
  const bool is_known = driver.cuDeviceGetAttribute(&has_timeout, kKernelTimeout, device) == kCudaSuccess;
  if (is_known && has_timeout != 0) info.max_step_seconds = 0.1;  // it draws a screen too
  info.runs_beside_host = true;
  return std::unique_ptr<CudaBackend>(new CudaBackend(driver, files, device, context, stream, std::move(info),
                                                      Compiler(nvrtc, major, minor, std::move(cache)), major, minor));
}

CudaBackend::CudaBackend(const Driver& driver, std::span<const KernelFile> files, int device, Handle context,
                         Handle stream, DeviceInfo info, Compiler compiler, int major, int minor)
    : driver_(driver),
      files_(files),
      device_(device),
      context_(context),
      stream_(stream),
      info_(std::move(info)),
      compiler_(std::move(compiler)),
      has_warpgroups_(major == 9 && minor == 0),
      graphs_(driver_, stream, major >= 9) {  // kernels then wait for their inputs themselves
  constexpr unsigned kNonBlocking = 1;
  driver_.cuStreamCreate(&copy_stream_, kNonBlocking);  // without it copies use the default stream
  driver_.cuStreamCreate(&download_stream_, kNonBlocking);
  driver_.cuEventCreate(&begin_, 0);  // without them a step has no timing, but everything else works
  driver_.cuEventCreate(&end_, 0);
}

CudaBackend::~CudaBackend() {
  driver_.cuCtxSetCurrent(context_);
  driver_.cuStreamSynchronize(stream_);
  graphs_.clear();
  pipelines_.clear();
  driver_.cuEventDestroy_v2(begin_);
  driver_.cuEventDestroy_v2(end_);
  if (copy_stream_ != nullptr) driver_.cuStreamDestroy_v2(copy_stream_);
  if (download_stream_ != nullptr) driver_.cuStreamDestroy_v2(download_stream_);
  driver_.cuStreamDestroy_v2(stream_);
  driver_.cuDevicePrimaryCtxRelease_v2(device_);
}

std::string CudaBackend::kernels_version() const { return cuda_kernels_version() + ", " + compiler_.version(); }

Result<const Pipeline*> CudaBackend::pipeline(std::string_view name, std::span<const Constant> constants) {
  const std::string key = text_of(name, constants);
  if (const auto found = pipelines_.find(key); found != pipelines_.end()) return found->second.get();
  PAGODA_ASSIGN_OR_RETURN(const auto kernel, check_pipeline(files_, name, constants));
  const auto file =
      std::find_if(files_.begin(), files_.end(), [&](const KernelFile& f) { return f.source.file == kernel->file; });
  if (file == files_.end())
    return make_error(StatusCode::internal, "cuda: no text has the kernel " + std::string(name));
  auto made = std::make_unique<CudaPipeline>(driver_, *kernel, file->source);
  for (const ConstantInfo& info : kernel->constants)
    for (const Constant& given : constants)
      if (given.name == info.name) made->constants.push_back({info.name, given.bits});
  return pipelines_.emplace(key, std::move(made)).first->second.get();
}

void CudaBackend::launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                         std::span<const Binding> bindings) noexcept {
  if (!fault_.is_ok()) return;
  const auto& launched = static_cast<const CudaPipeline&>(pipeline);
  try {
    fail(check_launch(launched.kernel, groups, threads, bindings));
    if (!fault_.is_ok() || groups.x == 0 || groups.y == 0 || groups.z == 0) return;
    record(launched, groups, threads, bindings);
  } catch (const std::bad_alloc&) {
    fail(make_error(StatusCode::out_of_memory, "cuda: no host memory for the launches of a step"));
  }
}

// A launch waits for everything before the last barrier: for the launches between it and the previous barrier, which
// wait for the others.
void CudaBackend::record(const CudaPipeline& pipeline, Size3 groups, Size3 threads, std::span<const Binding> bindings) {
  const KernelInfo& kernel = pipeline.kernel;
  const uint32_t index = static_cast<uint32_t>(step_.size());
  step_.push_back(&pipeline);
  Launch& made = graphs_.add();
  made.groups = groups;
  made.threads = threads;
  made.shared_bytes = pipeline.shared_bytes;
  for (const BindingInfo& info : kernel.bindings) {
    const Binding& given =
        *std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) { return b.index == info.index; });
    DeviceAddress address = 0;
    const void* value = given.values;
    size_t size = given.size_bytes;
    if (info.kind == BindingKind::buffer) {
      address = static_cast<CudaBuffer*>(given.buffer)->address() + static_cast<DeviceAddress>(given.offset_bytes);
      value = &address;
      size = sizeof address;
    }
    if (!made.add_param(value, size))
      fail(make_error(StatusCode::internal,
                      "cuda: " + std::string(kernel.name) + " has more arguments than a launch has room for"));
  }
  if (hazards_.needs_barrier(kernel, bindings)) {
    before_barrier_ = since_barrier_;
    since_barrier_.first = index;
  }
  made.after = before_barrier_;
  // Its threadgroups run for a long time, and there is about one per multiprocessor: if they started while others still
  // run, some would share a multiprocessor.
  made.begins_early = !kernel.name.starts_with("gdn_prefill");
  since_barrier_.end = index + 1;
}

// Compiles the new pipelines of the step in parallel: the first step of a model has about thirty, each taking a
// second or two.
Status CudaBackend::make_pipelines() {
  std::vector<const CudaPipeline*> fresh;
  for (const CudaPipeline* pipeline : step_)
    if (pipeline->function == nullptr && std::ranges::find(fresh, pipeline) == fresh.end()) fresh.push_back(pipeline);
  if (fresh.empty()) return ok_status();
  std::vector<Result<std::vector<char>>> codes(
      fresh.size(), make_error(StatusCode::out_of_memory, "cuda: no host memory to compile a kernel"));
  constexpr size_t kMaxThreads = 16;  // NVRTC takes tens of MiB per thread
  const size_t cores = std::min<size_t>(static_cast<size_t>(usable_cores()), kMaxThreads);
  PAGODA_ASSIGN_OR_RETURN(const auto threads, ThreadPool::create(static_cast<int>(std::min(cores, fresh.size()))));
  threads->parallel_for(static_cast<int64_t>(fresh.size()), [&](int64_t i, int) {
    const CudaPipeline& made = *fresh[i];
    try {
      codes[i] = compiler_.compile(made.kernel, made.source, made.constants);
    } catch (const std::bad_alloc&) {  // keeps the preset error
    }
  });
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!codes[i].is_ok()) return codes[i].status;
    PAGODA_RETURN_IF_ERROR(fresh[i]->load(*codes[i]));
  }
  return ok_status();
}

Status CudaBackend::start_step() {
  PAGODA_RETURN_IF_ERROR(make_pipelines());
  for (size_t i = 0; i < step_.size(); ++i) graphs_.recorded()[i].function = step_[i]->function;
  driver_.cuEventRecord(begin_, stream_);
  PAGODA_RETURN_IF_ERROR(graphs_.submit());
  driver_.cuEventRecord(end_, stream_);
  return ok_status();
}

Pending& CudaBackend::submit() noexcept {
  driver_.cuCtxSetCurrent(context_);
  try {
    if (fault_.is_ok()) fail(start_step());
  } catch (const std::bad_alloc&) {
    fail(make_error(StatusCode::out_of_memory, "cuda: no host memory for the launches of a step"));
  }
  graphs_.drop();
  step_.clear();
  hazards_.clear();
  before_barrier_ = {};
  since_barrier_ = {};
  verdict_ = std::exchange(fault_, Status{});
  return *this;
}

Pending& CudaBackend::repeat() noexcept {
  driver_.cuCtxSetCurrent(context_);
  driver_.cuEventRecord(begin_, stream_);
  verdict_ = graphs_.repeat();
  driver_.cuEventRecord(end_, stream_);
  return *this;
}

Status CudaBackend::wait() noexcept {
  if (!verdict_.is_ok()) return verdict_;
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuStreamSynchronize(stream_), "running a step"));
  float ms = 0;
  if (driver_.cuEventElapsedTime(&ms, begin_, end_) != kCudaSuccess) return ok_status();  // the step then has no timing
  ++times_.steps;
  times_.seconds += static_cast<double>(ms) / 1e3;
  return ok_status();
}

// A kernel's damage to the context is permanent: every later call returns the same error.
Status CudaBackend::health() noexcept {
  driver_.cuCtxSetCurrent(context_);
  return cuda_status(driver_, driver_.cuStreamSynchronize(stream_), "the GPU after a failed step");
}

void CudaBackend::fail(Status status) noexcept {
  if (fault_.is_ok()) fault_ = std::move(status);
}

bool has_cuda_gpu() noexcept {
  static const bool has = [] {
    const auto driver = load_driver();
    int count = 0;
    return driver.is_ok() && driver->cuInit(0) == kCudaSuccess && driver->cuDeviceGetCount(&count) == kCudaSuccess &&
           count > 0;
  }();
  return has;
}

bool has_cuda() noexcept {
  static const bool has = has_cuda_gpu() && load_nvrtc().is_ok();
  return has;
}

Result<std::unique_ptr<CudaBackend>> make_cuda_backend() {
  PAGODA_ASSIGN_OR_RETURN(const auto driver, load_driver());
  PAGODA_ASSIGN_OR_RETURN(const auto nvrtc, load_nvrtc());
  return CudaBackend::make(driver, nvrtc, generated::files(), CodeCache(CodeCache::user_folder()));
}

}  // namespace pagoda::device::gpu::cuda
