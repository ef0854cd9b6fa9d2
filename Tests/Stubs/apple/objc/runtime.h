// The Objective-C runtime declarations that metal-cpp's headers need to compile on other systems.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct objc_class* Class;
struct objc_object {
  Class isa;
};
typedef struct objc_object* id;
typedef struct objc_selector* SEL;
typedef struct objc_protocol Protocol;
typedef struct objc_method* Method;
typedef void (*IMP)(void);

extern "C" {
SEL sel_registerName(const char* name);
Class objc_lookUpClass(const char* name);
Class objc_getClass(const char* name);
Protocol* objc_getProtocol(const char* name);
Class object_getClass(id object);
Method class_getInstanceMethod(Class type, SEL name);
bool class_respondsToSelector(Class type, SEL name);
}
