// The part of libmicrohttpd the server uses, with plain functions for the variadic ones, which Swift cannot call.
#pragma once

#include <microhttpd.h>
#include <stdint.h>
#include <sys/socket.h>

struct PagodaHTTPLimits {
  unsigned int num_threads;
  unsigned int max_connections;
  unsigned int max_connections_per_address;  // 0 = no limit
  unsigned int idle_seconds;                 // without a byte in either direction
  size_t header_bytes;                       // memory for request line, headers and buffers of a connection
};

// Without a socket to listen on: connections come by MHD_add_connection.
static inline struct MHD_Daemon* pagoda_http_start(const struct PagodaHTTPLimits* limits,
                                                   MHD_AccessHandlerCallback handle,
                                                   MHD_RequestCompletedCallback completed,
                                                   MHD_NotifyConnectionCallback connection, void* context) {
  unsigned int flags =
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET;
#if defined(__linux__)
  flags |= MHD_USE_EPOLL;
#else
  flags |= MHD_USE_AUTO;
#endif
  return MHD_start_daemon(flags, 0, NULL, NULL, handle, context,                                    //
                          MHD_OPTION_THREAD_POOL_SIZE, limits->num_threads,                         //
                          MHD_OPTION_CONNECTION_LIMIT, limits->max_connections,                     //
                          MHD_OPTION_PER_IP_CONNECTION_LIMIT, limits->max_connections_per_address,  //
                          MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_seconds,                      //
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits->header_bytes,                 //
                          MHD_OPTION_NOTIFY_COMPLETED, completed, context,                          //
                          MHD_OPTION_NOTIFY_CONNECTION, connection, context,                        //
                          MHD_OPTION_END);
}

static inline int pagoda_http_socket(struct MHD_Connection* connection) {
  const union MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

// What the connection callback stored for this socket.
static inline void* pagoda_http_socket_context(struct MHD_Connection* connection) {
  const union MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}
