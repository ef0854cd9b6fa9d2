// The core's function that adds the CUDA device; linking this target calls it when the program starts.
#pragma once

#if defined(__cplusplus)
extern "C" void pagoda_add_cuda_device() noexcept;
#else
void pagoda_add_cuda_device(void);
#endif
