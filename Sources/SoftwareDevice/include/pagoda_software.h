// The core's function that adds the software device; linking this target calls it when the program starts.
#pragma once

#if defined(__cplusplus)
extern "C" void pagoda_add_software_device() noexcept;
#else
void pagoda_add_software_device(void);
#endif
