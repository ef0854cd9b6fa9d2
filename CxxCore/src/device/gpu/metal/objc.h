// Objective-C messages from C++: typed calls of objc_msgSend, and an owner that retains and releases.
#pragma once

#include <objc/message.h>
#include <objc/runtime.h>

#include <utility>

namespace pagoda::device::gpu::metal {

// Sends `selector` to an object or class. The types of `arguments` must be exactly those the method declares: the call
// goes through a pointer to a function of this signature. No method used here returns a struct, which x86-64 would
// return differently.
template <class Returned, class... Arguments>
Returned send(const void* receiver, SEL selector, Arguments... arguments) noexcept {
  using Function = Returned (*)(const void*, SEL, Arguments...);
  return reinterpret_cast<Function>(&objc_msgSend)(receiver, selector, arguments...);
}

}  // namespace pagoda::device::gpu::metal

// A member function that sends one message. `static`: the selector is looked up once.
#define PAGODA_SEND(Returned, selector, ...)                \
  static const SEL registered = sel_registerName(selector); \
  return pagoda::device::gpu::metal::send<Returned>(this, registered __VA_OPT__(, ) __VA_ARGS__)

// The same for a class method.
#define PAGODA_SEND_TO_CLASS(Returned, class_name, selector, ...) \
  static const SEL registered = sel_registerName(selector);       \
  return pagoda::device::gpu::metal::send<Returned>(objc_getClass(class_name), registered __VA_OPT__(, ) __VA_ARGS__)
