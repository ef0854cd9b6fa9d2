// The definitions of metal-cpp, in a build that uses it instead of our declarations: METAL_CPP=FOLDER swift build.
#include "device/gpu/metal/enabled.h"
#if defined(PAGODA_METAL) && defined(PAGODA_METAL_CPP)
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#endif
