// Link: a channel with a thread that sends queued frames, and pings while idle, and a thread that delivers received
// frames.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "pipeline/channel.h"

namespace pagoda::pipeline {

class Link {
 public:
  using OnFrame = std::function<void(Bytes&& frame)>;        // pings are not delivered
  using OnLost = std::function<void(const Status& reason)>;  // called once, unless the link was closed on this side
  // Both are called from the link's own threads.
  Link(std::unique_ptr<Channel> channel, int timeout_ms, OnFrame on_frame, OnLost on_lost);
  ~Link();  // sends nothing more; must not be called from its own threads

  void send(Bytes&& frame);  // any thread; never waits
  void close() noexcept;     // any thread
  const std::string& peer() const noexcept { return channel_->peer(); }

 private:
  void run_sender() noexcept;
  void run_receiver() noexcept;
  void lose(const Status& reason) noexcept;

  const std::unique_ptr<Channel> channel_;
  const int timeout_ms_;
  const OnFrame on_frame_;
  const OnLost on_lost_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::deque<Bytes> queue_;
  bool is_over_ = false;
  std::thread sender_, receiver_;
};

}  // namespace pagoda::pipeline
