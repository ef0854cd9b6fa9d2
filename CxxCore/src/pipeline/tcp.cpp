// TCP: non-blocking sockets; poll() waits, so that every wait has a timeout.
#include "pipeline/tcp.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/concat.h"

namespace pagoda::pipeline {
namespace {

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL;
#else
constexpr int kSendFlags = 0;  // the socket has SO_NOSIGPIPE
#endif

Status failed(const std::string& what, int error) {
  return make_error(StatusCode::io_error, what + ": " + std::strerror(error));
}

void prepare_socket(int socket) {
  const int on = 1;
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL, 0) | O_NONBLOCK);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef SO_NOSIGPIPE
  ::setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

class TcpChannel final : public Channel {
 public:
  TcpChannel(int socket, std::string peer) : socket_(socket), peer_(std::move(peer)) { prepare_socket(socket); }
  ~TcpChannel() override { ::close(socket_); }

  Status send(std::span<const std::byte> frame, int timeout_ms) override {
    if (frame.size() > kMaxFrameBytes) return make_error(StatusCode::invalid_argument, "a frame is too long");
    const uint64_t size = frame.size();
    PAGODA_RETURN_IF_ERROR(write(std::as_bytes(std::span(&size, 1)), timeout_ms));
    return write(frame, timeout_ms);
  }

  // Memory follows what has arrived: a length alone costs at most a mebibyte.
  Status receive(Bytes& frame, uint64_t max_bytes, int timeout_ms) override {
    uint64_t size = 0;
    PAGODA_RETURN_IF_ERROR(read(std::as_writable_bytes(std::span(&size, 1)), timeout_ms));
    if (size > max_bytes)
      return make_error(StatusCode::bad_file,
                        concat(peer_, " sent a frame of ", size, " bytes, at most ", max_bytes, " are allowed"));
    frame.clear();
    while (frame.size() < size) {
      const size_t have = frame.size();
      frame.resize(have + std::min<size_t>(size - have, std::max<size_t>(have, 1 << 20)));
      PAGODA_RETURN_IF_ERROR(read(std::span(frame).subspan(have), timeout_ms));
    }
    return ok_status();
  }

  void close() noexcept override {
    is_closed_ = true;
    ::shutdown(socket_, SHUT_RDWR);
  }
  const std::string& peer() const noexcept override { return peer_; }

 private:
  Status wait(short events, int timeout_ms) {
    pollfd entry{socket_, events, 0};
    const int count = ::poll(&entry, 1, timeout_ms);
    if (is_closed_) return make_error(StatusCode::io_error, "the connection was closed here");
    if (count < 0 && errno != EINTR) return failed("poll", errno);
    if (count == 0) return make_error(StatusCode::io_error, concat("nothing was heard for ", timeout_ms, " ms"));
    return ok_status();
  }

  Status write(std::span<const std::byte> bytes, int timeout_ms) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), kSendFlags);
      if (count >= 0) bytes = bytes.subspan(static_cast<size_t>(count));
      else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        PAGODA_RETURN_IF_ERROR(wait(POLLOUT, timeout_ms));
      else return failed("sending", errno);
    }
    return ok_status();
  }

  Status read(std::span<std::byte> bytes, int timeout_ms) {
    while (!bytes.empty()) {
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (count > 0) bytes = bytes.subspan(static_cast<size_t>(count));
      else if (count == 0) return make_error(StatusCode::io_error, "the other end closed the connection");
      else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        PAGODA_RETURN_IF_ERROR(wait(POLLIN, timeout_ms));
      else return failed("receiving", errno);
    }
    return ok_status();
  }

  const int socket_;
  const std::string peer_;
  std::atomic<bool> is_closed_ = false;
};

struct Addresses {
  addrinfo* list = nullptr;
  ~Addresses() {
    if (list) ::freeaddrinfo(list);
  }
};

Status resolve(const std::string& address, bool to_listen, Addresses& found) {
  const size_t colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const bool is_number = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (host.empty() || !is_number)
    return make_error(StatusCode::invalid_argument, "'" + address + "' is no address: write host:port");
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = to_listen ? AI_PASSIVE : 0;
  const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found.list);
  return error == 0 ? ok_status() : make_error(StatusCode::not_found, address + ": " + ::gai_strerror(error));
}

// 0, or the error of a connection attempt.
int finish_connecting(int socket, int timeout_ms) {
  pollfd entry{socket, POLLOUT, 0};
  if (::poll(&entry, 1, timeout_ms) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Result<std::unique_ptr<Channel>> connect_tcp(const std::string& address, int timeout_ms) {
  Addresses found;
  PAGODA_RETURN_IF_ERROR(resolve(address, false, found));
  int error = ECONNREFUSED;
  for (const addrinfo* entry = found.list; entry; entry = entry->ai_next) {
    const int socket = ::socket(entry->ai_family, entry->ai_socktype, entry->ai_protocol);
    if (socket < 0) continue;
    prepare_socket(socket);
    error = ::connect(socket, entry->ai_addr, entry->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = finish_connecting(socket, timeout_ms);
    if (error == 0) return std::unique_ptr<Channel>(std::make_unique<TcpChannel>(socket, address));
    ::close(socket);
  }
  return failed("connecting to " + address, error);
}

Result<std::unique_ptr<TcpListener>> TcpListener::open(const std::string& address) {
  Addresses found;
  PAGODA_RETURN_IF_ERROR(resolve(address, true, found));
  int error = EADDRNOTAVAIL;
  for (const addrinfo* entry = found.list; entry; entry = entry->ai_next) {
    const int socket = ::socket(entry->ai_family, entry->ai_socktype, entry->ai_protocol);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    prepare_socket(socket);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    const bool is_open = ::bind(socket, entry->ai_addr, entry->ai_addrlen) == 0 && ::listen(socket, 4) == 0 &&
                         ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) == 0;
    if (is_open) {
      const bool is_v6 = bound.ss_family == AF_INET6;
      const uint16_t port = is_v6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                  : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
      return std::unique_ptr<TcpListener>(new TcpListener(socket, ntohs(port)));
    }
    error = errno;
    ::close(socket);
  }
  return failed("listening at " + address, error);
}

TcpListener::~TcpListener() { ::close(socket_); }

Result<std::unique_ptr<Channel>> TcpListener::accept(int timeout_ms) {
  pollfd entry{socket_, POLLIN, 0};
  if (::poll(&entry, 1, timeout_ms) <= 0) return make_error(StatusCode::resource_exhausted, "no connection came");
  const int socket = ::accept(socket_, nullptr, nullptr);
  if (socket < 0) return make_error(StatusCode::resource_exhausted, std::strerror(errno));
  return std::unique_ptr<Channel>(std::make_unique<TcpChannel>(socket, "the first stage"));
}

}  // namespace pagoda::pipeline
