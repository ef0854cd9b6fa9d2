// TLS for sockets that never block, with the system's OpenSSL or Apple's Secure Transport; without either, calls say
// what is missing.
#ifndef PAGODA_CTLS_H
#define PAGODA_CTLS_H

#include <stddef.h>
#include <stdint.h>

typedef struct pagoda_tls_context pagoda_tls_context;
typedef struct pagoda_tls_session pagoda_tls_session;

enum {
  pagoda_tls_ended = 0,         // by the peer, or broken
  pagoda_tls_wants_read = -1,   // call again when the socket can be read
  pagoda_tls_wants_write = -2,  // call again when the socket can be written
};

// Why there is no TLS in this program; null if there is.
const char* pagoda_tls_missing(void);

// Reads a certificate with its chain, and its key, both as PEM files. Null with the reason in `error`. OpenSSL only.
pagoda_tls_context* pagoda_tls_open(const char* certificate, const char* key, char* error, size_t error_bytes);

#if defined(__APPLE__) || defined(PAGODA_APPLE_TYPES)
typedef struct {
  const uint8_t* bytes;
  size_t num_bytes;
} pagoda_tls_part;

// The same from the certificates in DER, the first with the key: in PKCS#1 if it is for RSA, in X9.63 if not.
pagoda_tls_context* pagoda_tls_open_parts(const pagoda_tls_part* certificates, size_t num_certificates,
                                          pagoda_tls_part key, int is_rsa, char* error, size_t error_bytes);
#endif

void pagoda_tls_close(pagoda_tls_context* context);

// A session on a socket that stays the caller's; the handshake is part of the first reads. Null without memory. It
// outlives its context.
pagoda_tls_session* pagoda_tls_accept(pagoda_tls_context* context, int socket);
// The number of bytes, more than 0, or one of the values above.
long pagoda_tls_read(pagoda_tls_session* session, void* bytes, size_t count);
long pagoda_tls_write(pagoda_tls_session* session, const void* bytes, size_t count);
// Whether bytes have been received that the socket no longer shows.
int pagoda_tls_has_pending(const pagoda_tls_session* session);
// Tells the peer that nothing more will be sent.
void pagoda_tls_finish(pagoda_tls_session* session);
void pagoda_tls_free(pagoda_tls_session* session);

#endif
