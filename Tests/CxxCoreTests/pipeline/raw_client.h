// RawClient: a plain TCP connection to this machine that sends any bytes, as a foreign program would.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "support/test.h"

namespace pagoda::test {

class RawClient {
 public:
  explicit RawClient(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(const void* bytes, size_t size) { CHECK(::send(socket_, bytes, size, 0) == static_cast<ssize_t>(size)); }

 private:
  const int socket_;
};

}  // namespace pagoda::test
