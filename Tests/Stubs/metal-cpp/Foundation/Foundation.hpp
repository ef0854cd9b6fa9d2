// Declarations of the part of metal-cpp's Foundation that the Metal backend uses, to check types where there is no
// Apple system. Names and types are metal-cpp's; nothing is defined.
#pragma once

#include <cstdint>

namespace NS {

using Integer = std::intptr_t;
using UInteger = std::uintptr_t;
enum StringEncoding : UInteger { UTF8StringEncoding = 4 };

class Object {
 public:
  void release();
};

template <class T>
class SharedPtr {
 public:
  SharedPtr();
  SharedPtr(const SharedPtr&);
  SharedPtr(SharedPtr&&);
  ~SharedPtr();
  SharedPtr& operator=(const SharedPtr&);
  SharedPtr& operator=(SharedPtr&&);
  T* get() const;
  T* operator->() const;
  void reset();
  explicit operator bool() const;
};
template <class T>
SharedPtr<T> TransferPtr(T*);
template <class T>
SharedPtr<T> RetainPtr(T*);

class AutoreleasePool : public Object {
 public:
  static AutoreleasePool* alloc();
  AutoreleasePool* init();
};

class String : public Object {
 public:
  static String* string(const char* pString, StringEncoding encoding);
  const char* utf8String() const;
};

class Error : public Object {
 public:
  Integer code() const;
  String* localizedDescription() const;
};

class URL : public Object {
 public:
  static URL* fileURLWithPath(const String* pPath);
};

class Array : public Object {
 public:
  static Array* array(const Object* pObject);
};

class ProcessInfo : public Object {
 public:
  static ProcessInfo* processInfo();
  String* operatingSystemVersionString() const;
};

}  // namespace NS
