// The declarations of Apple's Secure Transport that Sources/CTLS uses, with Apple's values.
#pragma once

#include <Security/Security.h>

typedef struct SSLContext* SSLContextRef;
typedef const void* SSLConnectionRef;
typedef enum { kSSLServerSide, kSSLClientSide } SSLProtocolSide;
typedef enum { kSSLStreamType, kSSLDatagramType } SSLConnectionType;
typedef enum { kTLSProtocol1 = 4, kTLSProtocol11 = 7, kTLSProtocol12 = 8 } SSLProtocol;
typedef OSStatus (*SSLReadFunc)(SSLConnectionRef connection, void* data, size_t* length);
typedef OSStatus (*SSLWriteFunc)(SSLConnectionRef connection, const void* data, size_t* length);

enum {
  errSSLWouldBlock = -9803,
  errSSLClosedGraceful = -9805,
  errSSLClosedAbort = -9806,
  errSSLClosedNoNotify = -9816,
};

SSLContextRef SSLCreateContext(CFAllocatorRef allocator, SSLProtocolSide side, SSLConnectionType type);
OSStatus SSLSetIOFuncs(SSLContextRef context, SSLReadFunc read, SSLWriteFunc write);
OSStatus SSLSetConnection(SSLContextRef context, SSLConnectionRef connection);
OSStatus SSLSetProtocolVersionMin(SSLContextRef context, SSLProtocol version);
OSStatus SSLSetCertificate(SSLContextRef context, CFArrayRef certificates);
OSStatus SSLHandshake(SSLContextRef context);
OSStatus SSLRead(SSLContextRef context, void* data, size_t length, size_t* processed);
OSStatus SSLWrite(SSLContextRef context, const void* data, size_t length, size_t* processed);
OSStatus SSLGetBufferedReadSize(SSLContextRef context, size_t* size);
OSStatus SSLClose(SSLContextRef context);
