// Devices that a program has only if it is linked with a file that adds them: nothing else refers to them, so that the
// linker leaves their code and texts out of every other program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace pagoda::device {

struct OptionalDevice {
  const char* name;
  Result<std::unique_ptr<Device>> (*make)(int num_threads);  // the error says what this machine lacks
  bool (*is_there)();                                        // whether this machine has it
  std::string (*version)();                                  // of its kernels; null: `auto` never takes it
  const OptionalDevice* next = nullptr;                      // added before this one
};

// For initialisers of a program, at any moment before main(). device lives for ever and is added once.
void add_optional_device(OptionalDevice& device) noexcept;

std::vector<const OptionalDevice*> optional_devices();  // those of this program, by name

}  // namespace pagoda::device
