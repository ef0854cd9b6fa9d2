// The reference device: host memory; oracles run as they are encoded.
#include "device/reference/reference_device.h"

#include "device/host/eager_encoder.h"
#include "device/host/host_memory.h"
#include "device/host/host_weight.h"
#include "device/reference/reference_ops.h"

namespace pagoda::device::reference {
namespace {

class ReferenceEncoder final : public host::EagerEncoder {
 public:
  bool can(OpRef op) const noexcept override {
    return op.visit([]<class Args>(const Args&) { return kCan<Args>; });
  }
  void encode(OpRef op) noexcept override {
    if (!check(host::check_indices(op))) return;
    op.visit([this]<class Args>(const Args& args) {
      if constexpr (kCan<Args>) attempt([&] { return run(args); });
    });
  }

 private:
  template <class Args>
  static constexpr bool kCan =
      requires(const Args& args) { run(args); };  // not argmax, sample: the host has the logits
};

class ReferenceDevice final : public Device {
 public:
  ReferenceDevice() : info_{"reference", "scalar double-precision oracles, 1 thread", host::memory_limit_bytes()} {}
  const DeviceInfo& info() const noexcept override { return info_; }
  Encoder& encoder() noexcept override { return encoder_; }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) override {
    return host::make_buffer(size_bytes, label);
  }
  Result<std::unique_ptr<Weight>> make_weight(const WeightSource& source, WeightFormat format) override {
    return host::make_weight(source, format);
  }
  size_t weight_bytes(int64_t rows, int64_t cols, WeightFormat format) const noexcept override {
    return host::weight_bytes(rows, cols, format);
  }
  bool keeps_format(WeightFormat) const noexcept override { return true; }
  bool joins_weights(bool) const noexcept override { return true; }
  Result<std::unique_ptr<Weight>> join_weights(std::vector<std::unique_ptr<Weight>> pieces) override {
    return host::join_weights(pieces);
  }
  Status reserve(const StepLimits&) override { return ok_status(); }
  size_t reserve_bytes(const StepLimits&) const noexcept override { return 0; }
  Status upload(const Tensor& to, const void* from, size_t size_bytes) noexcept override {
    return host::upload(to, from, size_bytes);
  }
  Status download(const Tensor& from, void* to, size_t size_bytes) noexcept override {
    return host::download(from, to, size_bytes);
  }

 private:
  DeviceInfo info_;
  ReferenceEncoder encoder_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_reference_device() { return std::unique_ptr<Device>(new ReferenceDevice()); }

}  // namespace pagoda::device::reference
