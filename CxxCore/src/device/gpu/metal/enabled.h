// Whether the Metal backend is compiled: on Apple systems, and for type checks elsewhere.
#pragma once

#if defined(__APPLE__) || defined(PAGODA_METAL_TYPES)
#define PAGODA_METAL 1
#endif
