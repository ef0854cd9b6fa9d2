// StageServer: a stage of a pipeline in a thread of the test, reached over TCP on this machine.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/stage.h"
#include "pipeline/tcp.h"
#include "support/test.h"

namespace pagoda::test {

class StageServer {
 public:
  static constexpr int kTimeoutMs = 600'000;  // only a lost stage may be reported as lost

  explicit StageServer(const std::string& folder, const std::string& address = "127.0.0.1:0") {
    auto listener = pipeline::TcpListener::open(address);
    CHECK_OK(listener);
    auto stage = pipeline::Stage::open(
        {.source = {folder, {}}, .device = "cpu", .num_threads = 1, .timeout_ms = kTimeoutMs, .log = nullptr});
    CHECK_OK(stage);
    if (!listener.is_ok() || !stage.is_ok()) return;
    port_ = (*listener)->port();
    thread_ = std::thread([this, listener = std::move(*listener), stage = std::move(*stage)] {
      while (!stop_)
        if (auto channel = listener->accept(50); channel.is_ok()) (void)stage->serve(std::move(*channel), stop_);
    });
  }
  ~StageServer() { stop(); }

  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace pagoda::test
