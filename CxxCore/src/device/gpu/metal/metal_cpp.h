// metal-cpp, Apple's own C++ names of Metal, and how we hold its objects. Only files of this folder include it.
#pragma once

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <string>
#include <string_view>

namespace pagoda::device::gpu::metal {

// Objects that a call leaves in an autorelease pool go when the call is over.
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

}  // namespace pagoda::device::gpu::metal
