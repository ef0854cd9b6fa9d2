// The part of Foundation that the Metal backend uses, under metal-cpp's names and with its signatures.
#pragma once

#include <cstdint>

#include "device/gpu/metal/objc.h"

namespace NS {

using Integer = std::intptr_t;
using UInteger = std::uintptr_t;
enum StringEncoding : UInteger { UTF8StringEncoding = 4 };

// Never constructed: a pointer to one is an Objective-C object.
class Object {
 public:
  Object() = delete;
  Object(const Object&) = delete;
  void retain() { PAGODA_SEND(void, "retain"); }
  void release() { PAGODA_SEND(void, "release"); }
  bool respondsToSelector(SEL selector) const { PAGODA_SEND(bool, "respondsToSelector:", selector); }
};

// Owns one reference. TransferPtr takes over the caller's (of alloc, new and copy methods), RetainPtr adds one.
template <class T>
class SharedPtr {
 public:
  SharedPtr() = default;
  SharedPtr(const SharedPtr& other) : object_(other.object_) {
    if (object_) object_->retain();
  }
  SharedPtr(SharedPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~SharedPtr() { reset(); }
  SharedPtr& operator=(SharedPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    if (object_) std::exchange(object_, nullptr)->release();
  }

 private:
  template <class U>
  friend SharedPtr<U> TransferPtr(U* object);
  T* object_ = nullptr;
};

template <class T>
SharedPtr<T> TransferPtr(T* object) {
  SharedPtr<T> owner;
  owner.object_ = object;
  return owner;
}

template <class T>
SharedPtr<T> RetainPtr(T* object) {
  if (object) object->retain();
  return TransferPtr(object);
}

class AutoreleasePool : public Object {
 public:
  static AutoreleasePool* alloc() { PAGODA_SEND_TO_CLASS(AutoreleasePool*, "NSAutoreleasePool", "alloc"); }
  AutoreleasePool* init() { PAGODA_SEND(AutoreleasePool*, "init"); }
};

class String : public Object {
 public:
  static String* string(const char* text, StringEncoding encoding) {
    PAGODA_SEND_TO_CLASS(String*, "NSString", "stringWithCString:encoding:", text, encoding);
  }
  const char* utf8String() const { PAGODA_SEND(const char*, "UTF8String"); }
};

class Error : public Object {
 public:
  Integer code() const { PAGODA_SEND(Integer, "code"); }
  String* localizedDescription() const { PAGODA_SEND(String*, "localizedDescription"); }
};

class URL : public Object {
 public:
  static URL* fileURLWithPath(const String* path) { PAGODA_SEND_TO_CLASS(URL*, "NSURL", "fileURLWithPath:", path); }
};

class Array : public Object {
 public:
  static Array* array(const Object* object) { PAGODA_SEND_TO_CLASS(Array*, "NSArray", "arrayWithObject:", object); }
  UInteger count() const { PAGODA_SEND(UInteger, "count"); }
  template <class T>
  T* object(UInteger index) const {
    PAGODA_SEND(T*, "objectAtIndex:", index);
  }
};

class ProcessInfo : public Object {
 public:
  static ProcessInfo* processInfo() { PAGODA_SEND_TO_CLASS(ProcessInfo*, "NSProcessInfo", "processInfo"); }
  String* operatingSystemVersionString() const { PAGODA_SEND(String*, "operatingSystemVersionString"); }
};

}  // namespace NS
