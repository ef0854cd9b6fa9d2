// Stands in for Secure Transport: records of two bytes of length and their content, as they are; a handshake of four bytes each way.
#include <Security/SecureTransport.h>
#include <stdlib.h>
#include <string.h>

enum { max_record_bytes = 1000 };

struct SSLContext {
  SSLReadFunc read;
  SSLWriteFunc write;
  SSLConnectionRef connection;
  unsigned char input[max_record_bytes + 2];
  size_t num_input, num_given;  // received of the current record, and handed on
  unsigned char output[1 << 20];
  size_t num_output;  // not yet sent
  int has_greeted;
};

struct CFArray {
  size_t count;
};

static char object;  // stands for every object that only has to exist
const CFStringRef kSecAttrKeyType, kSecAttrKeyClass, kSecAttrKeyTypeRSA, kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPrivate;
struct CFArrayCallBacks { int unused; };
struct CFDictionaryCallBacks { int unused; };
const CFArrayCallBacks kCFTypeArrayCallBacks;
const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;

void CFRelease(CFTypeRef released) { if (released != &object) free((void*)released); }
CFDataRef CFDataCreate(CFAllocatorRef allocator, const uint8_t* bytes, CFIndex count) { return (void)allocator, (void)bytes, (void)count, (CFDataRef)&object; }
CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFArrayCallBacks* callbacks) {
  return (void)allocator, (void)capacity, (void)callbacks, calloc(1, sizeof(struct CFArray));
}
void CFArrayAppendValue(CFMutableArrayRef array, const void* value) { (void)value, array->count++; }
CFDictionaryRef CFDictionaryCreate(CFAllocatorRef allocator, const void** keys, const void** values, CFIndex count,
                                   const CFDictionaryKeyCallBacks* key_callbacks, const CFDictionaryValueCallBacks* value_callbacks) {
  return (void)allocator, (void)keys, (void)values, (void)count, (void)key_callbacks, (void)value_callbacks, (CFDictionaryRef)&object;
}
SecCertificateRef SecCertificateCreateWithData(CFAllocatorRef allocator, CFDataRef data) { return (void)allocator, (void)data, (SecCertificateRef)&object; }
SecKeyRef SecKeyCreateWithData(CFDataRef data, CFDictionaryRef attributes, CFErrorRef* error) {
  return (void)data, (void)attributes, (void)error, (SecKeyRef)&object;
}
SecIdentityRef SecIdentityCreate(CFAllocatorRef allocator, SecCertificateRef certificate, SecKeyRef key) {
  return (void)allocator, (void)certificate, (void)key, (SecIdentityRef)&object;
}

SSLContextRef SSLCreateContext(CFAllocatorRef allocator, SSLProtocolSide side, SSLConnectionType type) {
  return (void)allocator, (void)type, side == kSSLServerSide ? calloc(1, sizeof(struct SSLContext)) : NULL;
}
OSStatus SSLSetIOFuncs(SSLContextRef context, SSLReadFunc read, SSLWriteFunc write) { return context->read = read, context->write = write, errSecSuccess; }
OSStatus SSLSetConnection(SSLContextRef context, SSLConnectionRef connection) { return context->connection = connection, errSecSuccess; }
OSStatus SSLSetProtocolVersionMin(SSLContextRef context, SSLProtocol version) { return (void)context, version == kTLSProtocol12 ? errSecSuccess : -1; }
OSStatus SSLSetCertificate(SSLContextRef context, CFArrayRef certificates) { return (void)context, certificates->count > 0 ? errSecSuccess : -1; }

// Receives until the input has so many bytes.
static OSStatus fill(SSLContextRef context, size_t count) {
  size_t missing = count - context->num_input;
  if (missing == 0) return errSecSuccess;
  OSStatus status = context->read(context->connection, context->input + context->num_input, &missing);
  context->num_input += missing;
  return status;
}

static OSStatus flush(SSLContextRef context) {
  size_t count = context->num_output;
  OSStatus status = context->write(context->connection, context->output, &count);
  memmove(context->output, context->output + count, context->num_output - count);
  context->num_output -= count;
  return status;
}

OSStatus SSLHandshake(SSLContextRef context) {
  OSStatus status = context->has_greeted ? errSecSuccess : fill(context, 4);
  if (status != errSecSuccess) return status;
  if (!context->has_greeted) {
    memcpy(context->output, context->input, 4);
    context->num_output = 4;
    context->num_input = 0;
    context->has_greeted = 1;
  }
  return flush(context);
}

OSStatus SSLRead(SSLContextRef context, void* data, size_t length, size_t* processed) {
  *processed = 0;
  if (context->num_given == 0) {
    OSStatus status = context->num_input < 2 ? fill(context, 2) : errSecSuccess;
    if (status == errSecSuccess) status = fill(context, 2 + context->input[0] * 256u + context->input[1]);
    if (status != errSecSuccess) return status;
    context->num_given = 2;
  }
  size_t left = context->num_input - context->num_given;
  *processed = left < length ? left : length;
  memcpy(data, context->input + context->num_given, *processed);
  context->num_given += *processed;
  if (context->num_given == context->num_input) context->num_given = context->num_input = 0;
  return errSecSuccess;
}

// Takes everything and sends what the socket takes: a call without bytes sends the rest.
OSStatus SSLWrite(SSLContextRef context, const void* data, size_t length, size_t* processed) {
  *processed = length;
  for (size_t start = 0; start < length;) {
    size_t count = length - start < max_record_bytes ? length - start : max_record_bytes;
    if (context->num_output + count + 2 > sizeof context->output) abort();
    context->output[context->num_output++] = (unsigned char)(count / 256);
    context->output[context->num_output++] = (unsigned char)(count % 256);
    memcpy(context->output + context->num_output, (const char*)data + start, count);
    context->num_output += count;
    start += count;
  }
  return flush(context);
}

OSStatus SSLGetBufferedReadSize(SSLContextRef context, size_t* size) {
  return *size = context->num_given > 0 ? context->num_input - context->num_given : 0, errSecSuccess;
}
OSStatus SSLClose(SSLContextRef context) { return flush(context); }
