// The declarations of Apple's Security framework that Sources/CTLS uses.
#pragma once

#include <CoreFoundation/CoreFoundation.h>

typedef int32_t OSStatus;
typedef struct SecCertificate* SecCertificateRef;
typedef struct SecKey* SecKeyRef;
typedef struct SecIdentity* SecIdentityRef;

enum { errSecSuccess = 0 };

extern const CFStringRef kSecAttrKeyType, kSecAttrKeyClass, kSecAttrKeyTypeRSA, kSecAttrKeyTypeECSECPrimeRandom,
    kSecAttrKeyClassPrivate;

SecCertificateRef SecCertificateCreateWithData(CFAllocatorRef allocator, CFDataRef data);
SecKeyRef SecKeyCreateWithData(CFDataRef data, CFDictionaryRef attributes, CFErrorRef* error);
SecIdentityRef SecIdentityCreate(CFAllocatorRef allocator, SecCertificateRef certificate, SecKeyRef key);
