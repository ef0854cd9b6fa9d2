// Channel: transports whole frames, in order, between two ranks. The only network interface of the pipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::pipeline {

using Bytes = std::vector<std::byte>;

constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxHelloBytes = 64 << 10;  // of the first frame, whose sender is not known yet

class Channel {
 public:
  virtual ~Channel() = default;
  // One thread sends and another receives. A waiting call ends with an error if there was no progress for
  // `timeout_ms`, if the peer has disconnected, and after close().
  virtual Status send(std::span<const std::byte> frame, int timeout_ms) = 0;
  virtual Status receive(Bytes& frame, uint64_t max_bytes, int timeout_ms) = 0;
  virtual void close() noexcept = 0;                     // may be called from any thread
  virtual const std::string& peer() const noexcept = 0;  // for messages
};

// Connects to a rank; called again whenever the connection is lost.
using Connector = std::function<Result<std::unique_ptr<Channel>>()>;

}  // namespace pagoda::pipeline
