// Channel: whole frames, in order, between two ranks. All that the pipeline needs from a network.
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

class Channel {
 public:
  virtual ~Channel() = default;
  // One thread sends and another receives. A call that waits ends with an error when nothing has moved for
  // `timeout_ms`, when the peer has gone, and after close().
  virtual Status send(std::span<const std::byte> frame, int timeout_ms) = 0;
  virtual Status receive(Bytes& frame, int timeout_ms) = 0;
  virtual void close() noexcept = 0;                     // any thread
  virtual const std::string& peer() const noexcept = 0;  // for messages
};

// How a rank is reached: called again whenever the connection was lost.
using Connector = std::function<Result<std::unique_ptr<Channel>>()>;

}  // namespace pagoda::pipeline
