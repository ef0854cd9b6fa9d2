// TLS sessions with Secure Transport. Network.framework, its successor, cannot use sockets that stay the caller's.
#include "ctls.h"

#if defined(__APPLE__) || defined(PAGODA_APPLE_TYPES)

#include "socket_io.h"

#include <CoreFoundation/CoreFoundation.h>
#include <Security/SecureTransport.h>
#include <Security/Security.h>
#include <stdio.h>
#include <stdlib.h>

#pragma clang diagnostic ignored "-Wdeprecated-declarations"

struct pagoda_tls_context {
  CFMutableArrayRef chain;  // the identity, then the certificates that signed it
};

struct pagoda_tls_session {
  SSLContextRef ssl;
  int socket;
  int is_open;            // the handshake is complete
  int waits_for_writing;  // the last transfer that would have blocked was one of sending
  size_t num_unsent;      // bytes that Secure Transport has taken and not yet sent completely
};

const char* pagoda_tls_missing(void) { return NULL; }

static pagoda_tls_context* failed(pagoda_tls_context* context, const char* reason, char* error, size_t error_bytes) {
  snprintf(error, error_bytes, "%s", reason);
  pagoda_tls_close(context);
  return NULL;
}

static SecCertificateRef certificate_of(pagoda_tls_part part) {
  CFDataRef data = CFDataCreate(NULL, part.bytes, (CFIndex)part.num_bytes);
  if (data == NULL) return NULL;
  SecCertificateRef certificate = SecCertificateCreateWithData(NULL, data);
  CFRelease(data);
  return certificate;
}

static SecKeyRef key_of(pagoda_tls_part part, int is_rsa) {
  const void* names[] = {kSecAttrKeyType, kSecAttrKeyClass};
  const void* values[] = {is_rsa ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPrivate};
  CFDictionaryRef kind = CFDictionaryCreate(NULL, names, values, 2, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
  CFDataRef data = CFDataCreate(NULL, part.bytes, (CFIndex)part.num_bytes);
  SecKeyRef key = kind == NULL || data == NULL ? NULL : SecKeyCreateWithData(data, kind, NULL);
  if (kind != NULL) CFRelease(kind);
  if (data != NULL) CFRelease(data);
  return key;
}

// Appends what was created to the chain, which then owns it.
static int append(pagoda_tls_context* context, CFTypeRef created) {
  if (created == NULL) return 0;
  CFArrayAppendValue(context->chain, created);
  CFRelease(created);
  return 1;
}

pagoda_tls_context* pagoda_tls_open_parts(const pagoda_tls_part* certificates, size_t num_certificates, pagoda_tls_part key, int is_rsa,
                                          char* error, size_t error_bytes) {
  pagoda_tls_context* context = calloc(1, sizeof *context);
  if (context == NULL) return failed(context, "there is no memory for it", error, error_bytes);
  context->chain = CFArrayCreateMutable(NULL, 0, &kCFTypeArrayCallBacks);
  if (context->chain == NULL || num_certificates == 0) return failed(context, "there is no certificate", error, error_bytes);
  SecCertificateRef first = certificate_of(certificates[0]);
  if (first == NULL) return failed(context, "the certificate cannot be read", error, error_bytes);
  SecKeyRef own = key_of(key, is_rsa);
  SecIdentityRef identity = own == NULL ? NULL : SecIdentityCreate(NULL, first, own);
  CFRelease(first);
  if (own == NULL) return failed(context, "the key cannot be read", error, error_bytes);
  CFRelease(own);
  if (!append(context, identity)) return failed(context, "the key does not belong to the certificate", error, error_bytes);
  for (size_t i = 1; i < num_certificates; i++) {
    if (!append(context, certificate_of(certificates[i]))) return failed(context, "a certificate of the chain cannot be read", error, error_bytes);
  }
  return context;
}

void pagoda_tls_close(pagoda_tls_context* context) {
  if (context == NULL) return;
  if (context->chain != NULL) CFRelease(context->chain);
  free(context);
}

// Secure Transport asks for a number of bytes, and for the status of all of them.
static OSStatus status_of(long moved) {
  if (moved == pagoda_socket_not_now) return errSSLWouldBlock;
  return moved == pagoda_socket_ended ? errSSLClosedNoNotify : errSSLClosedAbort;
}

static OSStatus receive_all(SSLConnectionRef connection, void* bytes, size_t* count) {
  pagoda_tls_session* session = (pagoda_tls_session*)connection;
  size_t wanted = *count;
  for (*count = 0; *count < wanted;) {
    long moved = pagoda_socket_receive(session->socket, (char*)bytes + *count, wanted - *count);
    if (moved <= 0) {
      session->waits_for_writing = 0;
      return status_of(moved);
    }
    *count += (size_t)moved;
  }
  return errSecSuccess;
}

static OSStatus send_all(SSLConnectionRef connection, const void* bytes, size_t* count) {
  pagoda_tls_session* session = (pagoda_tls_session*)connection;
  size_t wanted = *count;
  for (*count = 0; *count < wanted;) {
    long moved = pagoda_socket_send(session->socket, (const char*)bytes + *count, wanted - *count);
    if (moved <= 0) {
      session->waits_for_writing = moved == pagoda_socket_not_now;
      return moved == pagoda_socket_not_now ? errSSLWouldBlock : errSSLClosedAbort;
    }
    *count += (size_t)moved;
  }
  return errSecSuccess;
}

pagoda_tls_session* pagoda_tls_accept(pagoda_tls_context* context, int socket) {
  pagoda_tls_session* session = calloc(1, sizeof *session);
  if (session == NULL) return NULL;
  session->socket = socket;
  session->ssl = SSLCreateContext(NULL, kSSLServerSide, kSSLStreamType);
  if (session->ssl == NULL || SSLSetIOFuncs(session->ssl, receive_all, send_all) != errSecSuccess ||
      SSLSetConnection(session->ssl, session) != errSecSuccess || SSLSetProtocolVersionMin(session->ssl, kTLSProtocol12) != errSecSuccess ||
      SSLSetCertificate(session->ssl, context->chain) != errSecSuccess) {
    pagoda_tls_free(session);
    return NULL;
  }
  return session;
}

static long outcome(const pagoda_tls_session* session, OSStatus status) {
  if (status != errSSLWouldBlock) return pagoda_tls_ended;
  return session->waits_for_writing ? pagoda_tls_wants_write : pagoda_tls_wants_read;
}

// errSecSuccess once the handshake is complete.
static OSStatus shake_hands(pagoda_tls_session* session) {
  if (session->is_open) return errSecSuccess;
  OSStatus status = SSLHandshake(session->ssl);
  session->is_open = status == errSecSuccess;
  return status;
}

long pagoda_tls_read(pagoda_tls_session* session, void* bytes, size_t count) {
  OSStatus status = shake_hands(session);
  size_t num_read = 0;
  if (status == errSecSuccess) status = SSLRead(session->ssl, bytes, count, &num_read);
  return num_read > 0 ? (long)num_read : outcome(session, status);
}

long pagoda_tls_write(pagoda_tls_session* session, const void* bytes, size_t count) {
  OSStatus status = shake_hands(session);
  if (status != errSecSuccess) return outcome(session, status);
  size_t num_taken = 0;
  if (session->num_unsent > 0) {
    // The caller repeats the bytes that have been taken; a call without bytes sends the rest of their records.
    status = SSLWrite(session->ssl, NULL, 0, &num_taken);
    if (status != errSecSuccess) return outcome(session, status);
    num_taken = session->num_unsent;
    session->num_unsent = 0;
    return (long)num_taken;
  }
  status = SSLWrite(session->ssl, bytes, count, &num_taken);
  if (status == errSecSuccess && num_taken > 0) return (long)num_taken;
  if (status == errSSLWouldBlock) session->num_unsent = num_taken;
  return outcome(session, status);
}

int pagoda_tls_has_pending(const pagoda_tls_session* session) {
  size_t num_pending = 0;
  return SSLGetBufferedReadSize(session->ssl, &num_pending) == errSecSuccess && num_pending > 0;
}

void pagoda_tls_finish(pagoda_tls_session* session) {
  if (session->is_open) SSLClose(session->ssl);
}

void pagoda_tls_free(pagoda_tls_session* session) {
  if (session->ssl != NULL) CFRelease(session->ssl);
  free(session);
}

#endif
