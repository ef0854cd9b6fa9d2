// The types of CoreFoundation, and of headers it includes on a Mac, that metal-cpp's headers use.
#pragma once

#include <math.h>
#include <stdint.h>

typedef struct dispatch_data_s* dispatch_data_t;
typedef struct dispatch_queue_s* dispatch_queue_t;
typedef double CFTimeInterval;
typedef const void* CFTypeRef;
typedef struct CGSize {
  double width, height;
} CGSize;

#ifndef __cplusplus
// What Sources/CTLS uses.
#include <stddef.h>

typedef long CFIndex;
typedef const struct CFAllocator* CFAllocatorRef;
typedef const struct CFString* CFStringRef;
typedef const struct CFData* CFDataRef;
typedef const struct CFArray* CFArrayRef;
typedef struct CFArray* CFMutableArrayRef;
typedef const struct CFDictionary* CFDictionaryRef;
typedef struct CFError* CFErrorRef;
typedef struct CFArrayCallBacks CFArrayCallBacks;
typedef struct CFDictionaryCallBacks CFDictionaryKeyCallBacks, CFDictionaryValueCallBacks;

extern const CFArrayCallBacks kCFTypeArrayCallBacks;
extern const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
extern const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;

void CFRelease(CFTypeRef object);
CFDataRef CFDataCreate(CFAllocatorRef allocator, const uint8_t* bytes, CFIndex count);
CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFArrayCallBacks* callbacks);
void CFArrayAppendValue(CFMutableArrayRef array, const void* value);
CFDictionaryRef CFDictionaryCreate(CFAllocatorRef allocator, const void** keys, const void** values, CFIndex count,
                                   const CFDictionaryKeyCallBacks* key_callbacks,
                                   const CFDictionaryValueCallBacks* value_callbacks);
#endif
