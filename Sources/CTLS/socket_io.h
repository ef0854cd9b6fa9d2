// The bytes of a socket that never blocks, for both TLS libraries.
#ifndef PAGODA_CTLS_SOCKET_IO_H
#define PAGODA_CTLS_SOCKET_IO_H

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

enum {
  pagoda_socket_ended = 0,
  pagoda_socket_not_now = -1,
  pagoda_socket_broken = -2,
};

static inline long pagoda_socket_moved(long count) {
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? pagoda_socket_not_now : pagoda_socket_broken;
}

// The number of bytes, more than 0, or one of the values above.
static inline long pagoda_socket_receive(int socket, void* bytes, size_t count) {
  return pagoda_socket_moved(recv(socket, bytes, count, 0));
}

static inline long pagoda_socket_send(int socket, const void* bytes, size_t count) {
#if defined(MSG_NOSIGNAL)
  return pagoda_socket_moved(send(socket, bytes, count, MSG_NOSIGNAL));
#else
  return pagoda_socket_moved(send(socket, bytes, count, 0));  // the server has set SO_NOSIGPIPE
#endif
}

#endif
