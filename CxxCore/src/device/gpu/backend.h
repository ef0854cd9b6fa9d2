// Backend: the interface between the GPU encoder and a machine that runs our kernels: memory, pipelines, ordered
// launches. Metal, CUDA and the software device are backends; the encoder cannot distinguish them. Thread rule: as
// Device's, one thread drives it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"
#include "device/gpu/kernels_version.h"

namespace pagoda::device::gpu {

struct Size3 {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Size3&) const = default;
};

// A function constant of the kernel, by its name in the source. Bools are 0 or 1; floats are given by their bits.
struct Constant {
  std::string_view name;
  uint32_t bits = 0;
};

constexpr size_t kMaxValuesBytes = 4096;

// The content of one [[buffer(index)]] of a kernel: a range of device memory, or up to 4 KiB of values copied now.
// Indices are those of generated/bindings.h, generated from the kernel's source.
struct Binding {
  int index = 0;
  Buffer* buffer = nullptr;
  int64_t offset_bytes = 0;
  const void* values = nullptr;  // if buffer is null
  // Size of the values; for a buffer, how far from the offset the kernel reads or writes (0: to its end). Launches that
  // touch different ranges of one buffer may then run at the same time.
  size_t size_bytes = 0;
};

// Whether a lane that adds products one after another, each with a fused multiply-add, gets the bits of 8x8 products
// (Shaders/scalar.h).
enum class LaneSums : uint8_t { differ, untried, equal };

// A kernel with its function constants, ready to launch. Owned by the backend that made it.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
};

// Memory of the host from which rows are copied to the device while the host fills other memory.
class Staging {
 public:
  virtual ~Staging() = default;  // after wait()
  virtual std::byte* memory() noexcept = 0;
  // As Backend::upload(), from memory(), which stays as it is until wait() has returned.
  virtual Status upload(Buffer& to, int64_t offset_bytes, const std::byte* from, size_t size_bytes) noexcept = 0;
  virtual Status wait() noexcept = 0;
};

struct StepTimes {
  int64_t steps = 0;
  double seconds = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceInfo& info() const noexcept = 0;

  // Zero-filled, 256-byte aligned. `label` names it in the error.
  virtual Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes, const std::string& label) = 0;
  // See Device.
  virtual Result<std::unique_ptr<Buffer>> allocate_readback(size_t size_bytes, const std::string& label) {
    return allocate(size_bytes, label);
  }
  // A buffer of this memory itself, which kernels read but never write. Null, and the memory stays the caller's, if the
  // machine needs a copy.
  virtual std::unique_ptr<Buffer> share([[maybe_unused]] std::unique_ptr<Buffer>& memory) { return nullptr; }
  virtual Status upload(Buffer& to, int64_t offset_bytes, const void* from, size_t size_bytes) noexcept = 0;
  virtual Status download(Buffer& from, int64_t offset_bytes, void* to, size_t size_bytes) noexcept = 0;
  // By default, upload() copies from it before it returns.
  virtual Result<std::unique_ptr<Staging>> make_staging(size_t size_bytes);

  // Created once per name and set of constants, then cached. An unknown name or constant is an error that names it.
  virtual Result<const Pipeline*> pipeline(std::string_view kernel, std::span<const Constant> constants) = 0;

  // Adds a launch to the step being encoded. A launch sees what earlier ones wrote: the backend knows from the kernel's
  // source which bindings it writes, and puts a barrier between launches that touch the same memory (hazards.h). All
  // bindings of the kernel are given; an unused one may be any other buffer.
  virtual void launch(const Pipeline& pipeline, Size3 groups, Size3 threads,
                      std::span<const Binding> bindings) noexcept = 0;

  // Submits the step; wait() returns the error of any launch.
  virtual Pending& submit() noexcept = 0;

  // See Encoder.
  virtual uint64_t repeatable_step() const noexcept { return 0; }
  virtual Pending& repeat() noexcept { return submit(); }

  // Whether a launch starts before the one that it waits for has ended. An extra launch then costs less than the
  // duplicate work that would avoid it.
  virtual bool overlaps_launches() const noexcept { return false; }

  // Whether the machine has the matrix units that the kernels of matmul_tensor are for. They may still fail to
  // compile.
  virtual bool has_tensor_units() const noexcept { return false; }

  // If untried, a trial decides at load time (device/trial/scalar_trial.h).
  virtual LaneSums lane_sums() const noexcept { return LaneSums::differ; }

  // Whether the kernels for those units are matmul_wide: they give the bits of the usual ones, and compute only
  // products of many rows.
  virtual bool has_wide_products() const noexcept { return false; }

  // Identifies what compiles kernels, with the sources; cached results of a trial apply while it is the same.
  virtual std::string kernels_version() const { return metal_kernels_version(); }

  // Whether launches do anything. If not, weights need no content.
  virtual bool runs_launches() const noexcept { return true; }

  // Steps waited for since the last call, and how long the device worked on them; none if it does not report this.
  virtual StepTimes take_step_times() noexcept { return {}; }

  // Barriers between launches since the last call; 0 if the backend does not count them.
  virtual int64_t take_barriers() noexcept { return 0; }

  // Whether a thread has only 128 registers, fewer than the widest tiles of matmul_tiles need.
  virtual bool has_few_registers() const noexcept { return false; }
};

}  // namespace pagoda::device::gpu
