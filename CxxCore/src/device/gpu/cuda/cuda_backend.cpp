// Memory, pipelines and steps on an NVIDIA GPU.
#include "device/gpu/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace pagoda::device::gpu::cuda {
namespace {

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(const Driver& driver, Handle context, DeviceAddress address, size_t size_bytes) noexcept
      : driver_(driver), context_(context), address_(address), size_bytes_(size_bytes) {}
  ~CudaBuffer() override {
    driver_.cuCtxSetCurrent(context_);
    driver_.cuMemFree_v2(address_);
  }
  size_t size_bytes() const noexcept override { return size_bytes_; }
  std::byte* host_pointer() noexcept override { return nullptr; }
  DeviceAddress address() const noexcept { return address_; }

 private:
  const Driver driver_;  // a copy: buffers may outlive their backend
  Handle context_;
  DeviceAddress address_;
  size_t size_bytes_;
};

struct CudaPipeline final : Pipeline {
  CudaPipeline(const Driver& driver, const KernelText& text) : driver(driver), text(text) {}
  ~CudaPipeline() override {
    if (module != nullptr) driver.cuModuleUnload(module);
  }
  const Driver& driver;
  const KernelText& text;
  Handle module = nullptr, function = nullptr;
  int max_threads = 0;
};

std::string text_of(std::string_view kernel, std::span<const Constant> constants) {
  std::string key(kernel);
  for (const Constant& c : constants) key += " " + std::string(c.name) + "=" + std::to_string(c.bits);
  return key;
}

Status check_range(const Buffer& buffer, int64_t offset_bytes, size_t size_bytes, const char* what) {
  if (offset_bytes >= 0 && static_cast<size_t>(offset_bytes) <= buffer.size_bytes() &&
      size_bytes <= buffer.size_bytes() - static_cast<size_t>(offset_bytes))
    return ok_status();
  return make_error(StatusCode::internal, std::string("cuda: ") + what + " of " + std::to_string(size_bytes) +
                                              " bytes at byte " + std::to_string(offset_bytes) + " of a buffer of " +
                                              std::to_string(buffer.size_bytes()));
}

}  // namespace

Result<std::unique_ptr<CudaBackend>> CudaBackend::make(const Driver& driver, const Nvrtc& nvrtc,
                                                       KernelFinder find_kernel) {
  const auto check = [&](CudaResult result, const char* what) { return cuda_status(driver, result, what); };
  int count = 0, device = 0, major = 0, minor = 0, processors = 0;
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
    return make_error(StatusCode::unsupported, std::string("cuda: ") + name + " has compute capability " +
                                                   std::to_string(major) + "." + std::to_string(minor) +
                                                   ", and bf16 products need 8.0");
  Handle context = nullptr, stream = nullptr;
  PAGODA_RETURN_IF_ERROR(check(driver.cuDevicePrimaryCtxRetain(&context, device), "opening the GPU"));
  CudaResult result = driver.cuCtxSetCurrent(context);
  constexpr unsigned kNonBlocking = 1;
  if (result == kCudaSuccess) result = driver.cuStreamCreate(&stream, kNonBlocking);
  if (result != kCudaSuccess) {
    driver.cuDevicePrimaryCtxRelease_v2(device);
    return check(result, "opening the GPU");
  }
  DeviceInfo info{"cuda", std::string(name) + ", " + std::to_string(processors) + " multiprocessors",
                  static_cast<int64_t>(memory / 10 * 9)};
  return std::unique_ptr<CudaBackend>(
      new CudaBackend(driver, nvrtc, find_kernel, device, context, stream, std::move(info), major, minor));
}

CudaBackend::CudaBackend(const Driver& driver, const Nvrtc& nvrtc, KernelFinder find_kernel, int device, Handle context,
                         Handle stream, DeviceInfo info, int major, int minor)
    : driver_(driver),
      find_kernel_(find_kernel),
      device_(device),
      context_(context),
      stream_(stream),
      info_(std::move(info)),
      compiler_(nvrtc, major, minor),
      graphs_(driver_, stream) {}

CudaBackend::~CudaBackend() {
  driver_.cuCtxSetCurrent(context_);
  driver_.cuStreamSynchronize(stream_);
  graphs_.clear();
  pipelines_.clear();
  driver_.cuStreamDestroy_v2(stream_);
  driver_.cuDevicePrimaryCtxRelease_v2(device_);
}

Result<std::unique_ptr<Buffer>> CudaBackend::allocate(size_t size_bytes, const std::string& label) {
  driver_.cuCtxSetCurrent(context_);
  const size_t rounded = std::max<size_t>(size_bytes, 1);
  DeviceAddress address = 0;
  const std::string what = label + ", " + std::to_string(size_bytes) + " bytes";
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuMemAlloc_v2(&address, rounded), what.c_str()));
  auto buffer = std::make_unique<CudaBuffer>(driver_, context_, address, size_bytes);
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuMemsetD8Async(address, 0, rounded, stream_), what.c_str()));
  return std::unique_ptr<Buffer>(std::move(buffer));
}

// From pageable memory the driver has copied `from` when it returns; the stream orders the copy among the steps.
Status CudaBackend::upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept {
  PAGODA_RETURN_IF_ERROR(check_range(to, offset_bytes, size_bytes, "upload"));
  if (size_bytes == 0) return ok_status();
  driver_.cuCtxSetCurrent(context_);
  const DeviceAddress address = static_cast<CudaBuffer&>(to).address() + static_cast<DeviceAddress>(offset_bytes);
  return cuda_status(driver_, driver_.cuMemcpyHtoDAsync_v2(address, from, size_bytes, stream_), "upload");
}

Status CudaBackend::download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept {
  PAGODA_RETURN_IF_ERROR(check_range(from, offset_bytes, size_bytes, "download"));
  if (size_bytes == 0) return ok_status();
  driver_.cuCtxSetCurrent(context_);
  const DeviceAddress address = static_cast<CudaBuffer&>(from).address() + static_cast<DeviceAddress>(offset_bytes);
  PAGODA_RETURN_IF_ERROR(
      cuda_status(driver_, driver_.cuMemcpyDtoHAsync_v2(to, address, size_bytes, stream_), "download"));
  return cuda_status(driver_, driver_.cuStreamSynchronize(stream_), "download");
}

Result<const Pipeline*> CudaBackend::pipeline(std::string_view kernel, std::span<const Constant> constants) {
  const std::string key = text_of(kernel, constants);
  if (const auto found = pipelines_.find(key); found != pipelines_.end()) return found->second.get();
  const KernelText* text = find_kernel_(kernel);
  if (text == nullptr) return make_error(StatusCode::internal, "cuda: no kernel is named " + std::string(kernel));
  for (const Constant& c : constants)
    if (std::find(text->constants.begin(), text->constants.end(), c.name) == text->constants.end())
      return make_error(StatusCode::internal,
                        "cuda: kernel " + std::string(kernel) + " has no function constant " + std::string(c.name));
  std::vector<Constant> all(constants.begin(), constants.end());
  for (std::string_view name : text->constants)
    if (std::none_of(all.begin(), all.end(), [&](const Constant& c) { return c.name == name; })) all.push_back({name});
  auto code = compiler_.compile(kernel, text->source, all);
  if (!code.is_ok()) return code.status;

  driver_.cuCtxSetCurrent(context_);
  auto made = std::make_unique<CudaPipeline>(driver_, *text);
  const std::string name(kernel);
  PAGODA_RETURN_IF_ERROR(cuda_status(driver_, driver_.cuModuleLoadData(&made->module, code->data()), name.c_str()));
  PAGODA_RETURN_IF_ERROR(
      cuda_status(driver_, driver_.cuModuleGetFunction(&made->function, made->module, name.c_str()), name.c_str()));
  PAGODA_RETURN_IF_ERROR(cuda_status(
      driver_, driver_.cuFuncGetAttribute(&made->max_threads, /*most threads of a block*/ 0, made->function),
      name.c_str()));
  return pipelines_.emplace(key, std::move(made)).first->second.get();
}

void CudaBackend::launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                         std::span<const Binding> bindings) noexcept {
  if (groups.x == 0 || groups.y == 0 || groups.z == 0 || !fault_.is_ok()) return;
  const auto& kernel = static_cast<const CudaPipeline&>(pipeline);
  const std::string name(kernel.text.name);
  try {
    if (threads.x * threads.y * threads.z > static_cast<uint32_t>(kernel.max_threads))
      return fail(make_error(StatusCode::internal,
                             "cuda: " + name + " runs " + std::to_string(kernel.max_threads) + " threads at most"));
    Launch made{kernel.function, groups, threads, {}, {}, {}};
    for (const KernelParameter& parameter : kernel.text.parameters) {
      const auto given =
          std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) { return b.index == parameter.index; });
      if (given == bindings.end())
        return fail(make_error(StatusCode::internal,
                               "cuda: " + name + " lacks its argument " + std::to_string(parameter.index)));
      DeviceAddress address = 0;
      const void* value = &address;
      size_t size = sizeof address;
      if (parameter.value_bytes > 0) {
        value = given->values, size = given->size_bytes;
        if (value == nullptr || size != parameter.value_bytes)
          return fail(make_error(StatusCode::internal, "cuda: argument " + std::to_string(parameter.index) + " of " +
                                                           name + " has " + std::to_string(parameter.value_bytes) +
                                                           " bytes, not " + std::to_string(size)));
      } else if (given->buffer != nullptr) {
        address = static_cast<CudaBuffer*>(given->buffer)->address() + static_cast<DeviceAddress>(given->offset_bytes);
      }
      constexpr size_t kAlignment = 16;
      const size_t at = (made.params.size() + kAlignment - 1) / kAlignment * kAlignment;
      made.params.resize(at + size);
      std::memcpy(made.params.data() + at, value, size);
      made.param_offsets.push_back(static_cast<uint32_t>(at));
    }
    if (graphs_.num_launches() > 0) made.after.push_back(graphs_.num_launches() - 1);
    graphs_.add(std::move(made));
  } catch (const std::bad_alloc&) {
    fail(make_error(StatusCode::out_of_memory, "cuda: no host memory for the launches of a step"));
  }
}

Pending& CudaBackend::submit() noexcept {
  driver_.cuCtxSetCurrent(context_);
  if (fault_.is_ok()) fail(graphs_.submit());
  else graphs_.drop();
  verdict_ = std::exchange(fault_, Status{});
  return *this;
}

Status CudaBackend::wait() noexcept {
  if (!verdict_.is_ok()) return verdict_;
  return cuda_status(driver_, driver_.cuStreamSynchronize(stream_), "running a step");
}

void CudaBackend::fail(Status status) noexcept {
  if (fault_.is_ok()) fault_ = std::move(status);
}

}  // namespace pagoda::device::gpu::cuda
