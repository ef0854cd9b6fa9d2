// Metal from C++, and the ownership of its objects. Only files in this folder include it.
#pragma once

#include <string>
#include <string_view>

#ifdef PAGODA_METAL_CPP  // the same backend with metal-cpp itself: METAL_CPP=FOLDER swift build
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#else
#include "device/gpu/metal/metal_api.h"
#endif

namespace pagoda::device::gpu::metal {

// Objects that a call leaves in an autorelease pool are released when the call returns.
struct Pool {
  NS::AutoreleasePool* pool = NS::AutoreleasePool::alloc()->init();
  ~Pool() { pool->release(); }
};

inline NS::String* text_of(std::string_view text) {
  return NS::String::string(std::string(text).c_str(), NS::UTF8StringEncoding);
}

inline std::string message_of(NS::Error* error) {
  return error && error->localizedDescription() ? error->localizedDescription()->utf8String() : "no reason given";
}

// Sums keep their order, and functions stay exact to the last bit. Safe mode alone would leave sqrt and division to the
// fast functions, which are the default.
inline void use_exact_math(MTL::CompileOptions* options) {
#ifndef PAGODA_METAL_CPP
  constexpr NS::Integer kMathModeSafe = 0, kPreciseFunctions = 1;
  if (options->respondsToSelector(sel_registerName("setMathMode:"))) {
    options->setMathMode(kMathModeSafe);
    options->setMathFloatingPointFunctions(kPreciseFunctions);
    return;
  }
#endif
  options->setFastMathEnabled(false);
}

// Part of the key of compiled pipelines: those compiled with other options are not used.
constexpr std::string_view kMathOptions = "safe, precise functions";

}  // namespace pagoda::device::gpu::metal
