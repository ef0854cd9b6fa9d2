// TLS sessions with the system's OpenSSL, on systems other than Apple's.
#include "ctls.h"

#if !defined(__APPLE__) && __has_include(<openssl/ssl.h>)

#include "socket_io.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct pagoda_tls_context {
  SSL_CTX* ssl;
};

struct pagoda_tls_session {
  SSL* ssl;
};

// The socket of a BIO is its data pointer. OpenSSL's own BIO would raise SIGPIPE when the peer has gone.
static int bio_socket(BIO* bio) { return (int)(intptr_t)BIO_get_data(bio); }

static int retried(BIO* bio, long count, int flags) {
  BIO_clear_retry_flags(bio);
  if (count == pagoda_socket_not_now) BIO_set_flags(bio, flags | BIO_FLAGS_SHOULD_RETRY);
  return count < 0 ? -1 : (int)count;
}

static int bio_write(BIO* bio, const char* bytes, int count) {
  return retried(bio, pagoda_socket_send(bio_socket(bio), bytes, (size_t)count), BIO_FLAGS_WRITE);
}

static int bio_read(BIO* bio, char* bytes, int count) {
  return retried(bio, pagoda_socket_receive(bio_socket(bio), bytes, (size_t)count), BIO_FLAGS_READ);
}

static long bio_control(BIO* bio, int command, long number, void* pointer) {
  (void)bio, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static int bio_create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

static BIO_METHOD* method;  // made once: the number of kinds is limited
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static void make_method(void) {
  method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pagoda socket");
  if (method == NULL) return;
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_control);
  BIO_meth_set_create(method, bio_create);
}

const char* pagoda_tls_missing(void) { return NULL; }

static pagoda_tls_context* failed(pagoda_tls_context* context, const char* what, const char* path, char* error, size_t error_bytes) {
  char reason[200] = "";
  unsigned long code = ERR_get_error();
  const char* text = code == 0 ? NULL : ERR_reason_error_string(code);
  if (text == NULL && code != 0) ERR_error_string_n(code, reason, sizeof reason);
  snprintf(error, error_bytes, "%s %s: %s", what, path, text != NULL ? text : reason);
  ERR_clear_error();
  pagoda_tls_close(context);
  return NULL;
}

// An encrypted key is refused: asking for its password would block a server without a terminal.
static int no_password(char* bytes, int count, int is_writing, void* data) {
  (void)bytes, (void)count, (void)is_writing, (void)data;
  return 0;
}

pagoda_tls_context* pagoda_tls_open(const char* certificate, const char* key, char* error, size_t error_bytes) {
  ERR_clear_error();
  pagoda_tls_context* context = calloc(1, sizeof *context);
  if (context == NULL) return NULL;
  context->ssl = SSL_CTX_new(TLS_server_method());
  pthread_once(&method_once, make_method);
  if (context->ssl == NULL || method == NULL) return failed(context, "OpenSSL cannot start", "", error, error_bytes);
  SSL_CTX_set_min_proto_version(context->ssl, TLS1_2_VERSION);
  SSL_CTX_set_options(context->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // The send buffer grows between two attempts, and moves.
  SSL_CTX_set_mode(context->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_default_passwd_cb(context->ssl, no_password);
  if (SSL_CTX_use_certificate_chain_file(context->ssl, certificate) != 1) {
    return failed(context, "the certificate cannot be read from", certificate, error, error_bytes);
  }
  if (SSL_CTX_use_PrivateKey_file(context->ssl, key, SSL_FILETYPE_PEM) != 1) {
    return failed(context, "the key cannot be read from", key, error, error_bytes);
  }
  if (SSL_CTX_check_private_key(context->ssl) != 1) {
    return failed(context, "the key does not belong to the certificate:", key, error, error_bytes);
  }
  return context;
}

void pagoda_tls_close(pagoda_tls_context* context) {
  if (context == NULL) return;
  SSL_CTX_free(context->ssl);
  free(context);
}

pagoda_tls_session* pagoda_tls_accept(pagoda_tls_context* context, int socket) {
  pagoda_tls_session* session = calloc(1, sizeof *session);
  SSL* ssl = session == NULL ? NULL : SSL_new(context->ssl);
  BIO* bio = ssl == NULL ? NULL : BIO_new(method);
  if (bio == NULL) {
    SSL_free(ssl);
    free(session);
    return NULL;
  }
  BIO_set_data(bio, (void*)(intptr_t)socket);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_accept_state(ssl);
  session->ssl = ssl;
  return session;
}

static long outcome(pagoda_tls_session* session, int count) {
  if (count > 0) return count;
  int error = SSL_get_error(session->ssl, count);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return pagoda_tls_wants_read;
  if (error == SSL_ERROR_WANT_WRITE) return pagoda_tls_wants_write;
  return pagoda_tls_ended;
}

static int bounded(size_t count) { return count > (size_t)INT_MAX ? INT_MAX : (int)count; }

long pagoda_tls_read(pagoda_tls_session* session, void* bytes, size_t count) {
  ERR_clear_error();
  return outcome(session, SSL_read(session->ssl, bytes, bounded(count)));
}

long pagoda_tls_write(pagoda_tls_session* session, const void* bytes, size_t count) {
  ERR_clear_error();
  return outcome(session, SSL_write(session->ssl, bytes, bounded(count)));
}

int pagoda_tls_has_pending(const pagoda_tls_session* session) { return SSL_pending(session->ssl) > 0; }

void pagoda_tls_finish(pagoda_tls_session* session) {
  if (SSL_is_init_finished(session->ssl)) SSL_shutdown(session->ssl);
  ERR_clear_error();
}

void pagoda_tls_free(pagoda_tls_session* session) {
  SSL_free(session->ssl);
  free(session);
}

#elif !defined(__APPLE__)

#include <string.h>

const char* pagoda_tls_missing(void) { return "this program was built without the headers of OpenSSL (libssl-dev)"; }

pagoda_tls_context* pagoda_tls_open(const char* certificate, const char* key, char* error, size_t error_bytes) {
  (void)certificate, (void)key;
  strncpy(error, pagoda_tls_missing(), error_bytes - 1);
  return NULL;
}

void pagoda_tls_close(pagoda_tls_context* context) { (void)context; }
pagoda_tls_session* pagoda_tls_accept(pagoda_tls_context* context, int socket) { return (void)context, (void)socket, NULL; }
long pagoda_tls_read(pagoda_tls_session* session, void* bytes, size_t count) { return (void)session, (void)bytes, (void)count, 0; }
long pagoda_tls_write(pagoda_tls_session* session, const void* bytes, size_t count) { return (void)session, (void)bytes, (void)count, 0; }
int pagoda_tls_has_pending(const pagoda_tls_session* session) { return (void)session, 0; }
void pagoda_tls_finish(pagoda_tls_session* session) { (void)session; }
void pagoda_tls_free(pagoda_tls_session* session) { (void)session; }

#endif
