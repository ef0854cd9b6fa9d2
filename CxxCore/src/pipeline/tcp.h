// Channels over TCP, for machines without MPI. Every frame is preceded by its length.
#pragma once

#include <memory>
#include <string>

#include "pipeline/channel.h"

namespace pagoda::pipeline {

// `address` is host:port, or [host]:port.
Result<std::unique_ptr<Channel>> connect_tcp(const std::string& address, int timeout_ms);

class TcpListener {
 public:
  static Result<std::unique_ptr<TcpListener>> open(const std::string& address);  // port 0: any that is free
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  int port() const noexcept { return port_; }
  // The next connection; resource_exhausted if none arrived in time.
  Result<std::unique_ptr<Channel>> accept(int timeout_ms);

 private:
  TcpListener(int socket, int port) noexcept : socket_(socket), port_(port) {}
  int socket_, port_;
};

}  // namespace pagoda::pipeline
