// Devices that a program contains only if it is linked with a file that adds them: nothing else refers to them, so that
// the linker removes their code and kernel sources from every other program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace pagoda::device {

struct OptionalDevice {
  const char* name;
  Result<std::unique_ptr<Device>> (*make)(int num_threads);  // the error names what this machine lacks
  bool (*is_there)();                                        // whether make() can succeed on this machine
  // For `auto`; null: it never uses the device.
  bool (*has_driver)();      // whether this machine seems to have the GPU: `auto` tries it, or says why it was not used
  std::string (*version)();  // of its kernels
  const OptionalDevice* next = nullptr;  // added before this one
};

// For initialisers, at any time before main(). device must live forever and is added once.
void add_optional_device(OptionalDevice& device) noexcept;

std::vector<const OptionalDevice*> optional_devices();  // those of this program, by name

}  // namespace pagoda::device
