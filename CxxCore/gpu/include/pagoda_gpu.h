// The functions that add GPU devices to a program. Sources/CUDADevice and Sources/SoftwareDevice call them when it
// starts.
#pragma once

#if defined(__cplusplus)
extern "C" {
void pagoda_add_cuda_device() noexcept;
void pagoda_add_software_device() noexcept;
}
#endif
