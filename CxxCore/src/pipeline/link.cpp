// Link: the two threads. The first one to meet an error ends both.
#include "pipeline/link.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "pipeline/messages.h"

namespace pagoda::pipeline {

Link::Link(std::unique_ptr<Channel> channel, int timeout_ms, OnFrame on_frame, OnLost on_lost)
    : channel_(std::move(channel)),
      timeout_ms_(timeout_ms),
      on_frame_(std::move(on_frame)),
      on_lost_(std::move(on_lost)) {
  sender_ = std::thread([this] { run_sender(); });
  receiver_ = std::thread([this] { run_receiver(); });
}

Link::~Link() {
  close();
  sender_.join();
  receiver_.join();
}

void Link::send(Bytes&& frame) {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    queue_.push_back(std::move(frame));
  }
  wake_.notify_one();
}

void Link::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  channel_->close();
  wake_.notify_all();
}

void Link::lose(const Status& reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    is_over_ = true;
  }
  channel_->close();
  wake_.notify_all();
  on_lost_(reason);
}

void Link::run_sender() noexcept {
  const std::chrono::milliseconds pause(std::clamp(timeout_ms_ / 8, 50, 500));
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    Bytes frame;
    try {
      if (queue_.empty()) wake_.wait_for(lock, pause);
      if (is_over_) return;
      if (queue_.empty()) {
        frame = FrameWriter(Kind::ping).take();
      } else {
        frame = std::move(queue_.front());
        queue_.pop_front();
      }
    } catch (const std::exception&) {  // no memory for a ping: try again with the next one
      continue;
    }
    lock.unlock();
    const Status status = channel_->send(frame, timeout_ms_);
    if (!status.is_ok()) return lose(status);
    lock.lock();
  }
}

void Link::run_receiver() noexcept {
  try {
    for (;;) {
      Bytes frame;
      const Status status = channel_->receive(frame, kMaxFrameBytes, timeout_ms_);
      if (!status.is_ok()) return lose(status);
      if (kind_of(frame) != Kind::ping) on_frame_(std::move(frame));
    }
  } catch (const std::exception&) {
    lose({StatusCode::out_of_memory, "out of memory"});
  }
}

}  // namespace pagoda::pipeline
