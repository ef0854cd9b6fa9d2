// Runs Sources/CTLS/apple.c over a stub of Secure Transport: bytes that trickle, a peer that does not read, and ends.
#include "ctls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { num_bytes = 400000 };

static int num_failed;

static void expect(int holds, const char* what) {
  if (!holds) {
    printf("FAIL %s\n", what);
    num_failed++;
  }
}

static void trickle(int socket, pagoda_tls_session* session, const char* bytes, size_t count) {
  char buffer[64];
  for (size_t i = 0; i + 1 < count; i++) {
    expect(write(socket, bytes + i, 1) == 1, "writing to a pair of sockets");
    expect(pagoda_tls_read(session, buffer, sizeof buffer) == pagoda_tls_wants_read, "a part of a record");
  }
  expect(write(socket, bytes + count - 1, 1) == 1, "writing to a pair of sockets");
}

// The content of complete records.
static size_t content(const unsigned char* bytes, size_t count, unsigned char* out) {
  size_t total = 0;
  for (size_t i = 0; i + 2 <= count;) {
    size_t length = bytes[i] * 256u + bytes[i + 1];
    memcpy(out + total, bytes + i + 2, length);
    total += length;
    i += 2 + length;
  }
  return total;
}

// Sends more than the sockets hold: nothing is lost, sent twice, or left behind when the last call has succeeded.
static void send_much(int peer, pagoda_tls_session* session) {
  static unsigned char sent[num_bytes], received[2 * num_bytes], out[2 * num_bytes];
  size_t num_received = 0, start = 0;
  int num_waits = 0;
  for (size_t i = 0; i < num_bytes; i++) sent[i] = (unsigned char)(i * 31 >> 3);
  while (start < num_bytes) {
    long count = pagoda_tls_write(session, sent + start, num_bytes - start);
    expect(count > 0 || count == pagoda_tls_wants_write, "a write");
    if (count > 0) start += (size_t)count;
    if (count > 0) continue;
    num_waits++;
    long got = recv(peer, received + num_received, 5000, 0);
    if (got > 0) num_received += (size_t)got;
  }
  for (long got; (got = recv(peer, received + num_received, 5000, MSG_DONTWAIT)) > 0;) num_received += (size_t)got;
  expect(num_waits > 3, "the sockets were never full");
  expect(content(received, num_received, out) == num_bytes && memcmp(out, sent, num_bytes) == 0, "the bytes that arrive");
}

int main(void) {
  char error[200], buffer[3];
  pagoda_tls_part part = {(const uint8_t*)"x", 1};
  expect(pagoda_tls_open_parts(&part, 0, part, 0, error, sizeof error) == NULL && strstr(error, "no certificate"), "an empty chain");
  pagoda_tls_context* context = pagoda_tls_open_parts((pagoda_tls_part[]){part, part}, 2, part, 1, error, sizeof error);
  expect(context != NULL && pagoda_tls_missing() == NULL, "a context");
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0, "a pair of sockets");
  pagoda_tls_session* session = pagoda_tls_accept(context, ends[0]);
  pagoda_tls_close(context);
  trickle(ends[1], session, "hand\0\4abcd", 10);
  expect(pagoda_tls_read(session, buffer, 3) == 3 && memcmp(buffer, "abc", 3) == 0, "the first bytes of a record");
  expect(pagoda_tls_has_pending(session), "bytes that the socket no longer shows");
  expect(pagoda_tls_read(session, buffer, 3) == 1 && buffer[0] == 'd' && !pagoda_tls_has_pending(session), "the last byte");
  expect(recv(ends[1], error, 4, 0) == 4 && memcmp(error, "hand", 4) == 0, "the handshake's answer");
  send_much(ends[1], session);
  pagoda_tls_finish(session);
  close(ends[1]);
  expect(pagoda_tls_read(session, buffer, 3) == pagoda_tls_ended, "the end");
  expect(pagoda_tls_write(session, "a", 1) == pagoda_tls_ended, "a peer that has gone");
  pagoda_tls_free(session);
  puts(num_failed == 0 ? "all as expected" : "not as expected");
  return num_failed > 0;
}
