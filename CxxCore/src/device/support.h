// Queries to a device before a model is loaded and after a step has failed. A device answers them by implementing
// these interfaces; other devices have kernels for everything and cannot fail permanently.
#pragma once

#include "device/device.h"

namespace pagoda::device {

// The kernels that a model needs in every step. 0: it has no such layers.
struct KernelNeeds {
  int64_t block_size = 16;  // tokens
  int64_t head_dim = 0;     // of attention
  int64_t k_dim = 0;        // of Gated DeltaNet's keys
  int64_t latent_dim = 0;   // of a cache row of latent attention
  int64_t latent_value_dim = 0;
  bool has_streams = false;  // hyper-connections, which come with sparse attention (Qwen4-Exp)
};

class KernelSupport {
 public:
  virtual ~KernelSupport() = default;
  // unsupported, and the message names the missing kernel.
  virtual Status check_support(const KernelNeeds& needs) const = 0;
};

// Devices that can time their kernels one by one.
class KernelTiming {
 public:
  virtual ~KernelTiming() = default;
  // While enabled, take_profile() has an entry for each kernel instead of each op, and steps take longer.
  virtual void set_kernel_timing(bool enabled) = 0;
};

// Devices with two sets of kernels for products with weights of 16, 8 and 4 bits: the usual ones, and kernels for
// matrix units. If their summation order is unspecified, the results differ in their bits, so that all products of a
// model use one set.
class TensorProducts {
 public:
  virtual ~TensorProducts() = default;
  // Whether the machine has such units; their kernels may still fail to run.
  virtual bool has_tensor_products() const noexcept = 0;
  // Identifies the kernels and the system that compiles them: cached results apply while it is the same.
  virtual std::string tensor_version() const = 0;
  // Whether they give the bits of the usual kernels: they are then used for many rows only.
  virtual bool has_same_bits() const noexcept = 0;
  // For all products from now on.
  virtual void use_tensor_products(bool enabled) noexcept = 0;
  // Appended to the device's description from now on.
  virtual void describe_products(const std::string& text) = 0;
};

class DeviceHealth {
 public:
  virtual ~DeviceHealth() = default;
  // Called after a failed step: not ok if no later step can succeed either.
  virtual Status health() noexcept = 0;
};

inline Status check_support(const Device& device, const KernelNeeds& needs) {
  const auto* support = dynamic_cast<const KernelSupport*>(&device);
  return support ? support->check_support(needs) : ok_status();
}

// Does nothing if the device has no kernels to time.
inline void set_kernel_timing(Device& device, bool enabled) {
  if (auto* timing = dynamic_cast<KernelTiming*>(&device)) timing->set_kernel_timing(enabled);
}

inline Status health(Device& device) noexcept {
  auto* asked = dynamic_cast<DeviceHealth*>(&device);
  return asked ? asked->health() : ok_status();
}

}  // namespace pagoda::device
