// engine thread: many callers, cancellations and shutdowns at any moment; meant for the thread sanitizer.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "device/registry.h"
#include "engine/engine_thread.h"
#include "engine/fake_model.h"
#include "engine/recorder.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeModel;
using test::HeldRecorder;
using test::kFakeVocab;
using test::Recorder;

// A device that only keeps a profile: each profile taken while profiling is on has one call.
class ProfiledDevice final : public device::Device {
 public:
  const device::DeviceInfo& info() const noexcept override { return info_; }
  device::Encoder& encoder() noexcept override { return inner_->encoder(); }
  Result<std::unique_ptr<device::Buffer>> allocate(size_t size, const std::string& label) override {
    return inner_->allocate(size, label);
  }
  Result<std::unique_ptr<device::Weight>> make_weight(const device::WeightSource& source,
                                                      WeightFormat format) override {
    return inner_->make_weight(source, format);
  }
  size_t weight_bytes(int64_t, int64_t, WeightFormat) const noexcept override { return 0; }
  Status reserve(const device::StepLimits&) override { return ok_status(); }
  size_t reserve_bytes(const device::StepLimits&) const noexcept override { return 0; }
  Status upload(const device::Tensor&, const void*, size_t) noexcept override { return ok_status(); }
  Status download(const device::Tensor&, void*, size_t) noexcept override { return ok_status(); }

  void set_profiling(bool enabled) override { is_profiling_ = enabled; }
  std::vector<OpTime> take_profile() override {
    return is_profiling_ ? std::vector<OpTime>{{"matmul", ++num_takes_, 0.5, 2e9, 3e9, OpLimit::int8}}
                         : std::vector<OpTime>();
  }

 private:
  std::unique_ptr<device::Device> inner_ = std::move(*device::make_device("reference", 1));
  device::DeviceInfo info_;
  bool is_profiling_ = false;
  int64_t num_takes_ = 0;
};

std::unique_ptr<EngineThread> start_engine(int64_t num_blocks = 64, std::unique_ptr<device::Device> device = nullptr) {
  LoadedModel loaded;
  loaded.device = std::move(device);
  EngineLimits& sizes = loaded.core.limits;
  sizes.num_kv_blocks = num_blocks;
  sizes.num_state_slots = sizes.max_num_seqs = sizes.max_logits_rows = 4;
  sizes.max_num_tokens = 32;
  sizes.max_blocks_per_seq = static_cast<int32_t>(num_blocks);
  loaded.core.limits.max_model_len = static_cast<int32_t>(num_blocks) * 16;
  loaded.core.vocab_size = kFakeVocab;
  loaded.model = std::make_unique<FakeModel>(sizes, 16);
  auto engine = EngineThread::start(std::move(loaded));
  CHECK_OK(engine);
  return std::move(*engine);
}

Request request_of(int prompt, int output) {
  Request request;
  for (int i = 0; i < prompt; ++i) request.prompt_ids.push_back((i * 7 + prompt) % kFakeVocab);
  request.sampling.max_tokens = output;
  return request;
}

}  // namespace

PAGODA_TEST(engine_thread_serves_many_callers_at_once) {
  auto engine = start_engine();
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (int i = 0; i < 16; ++i) recorders.push_back(std::make_unique<Recorder>());
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (int i = 0; i < 4; ++i)
        CHECK_OK(
            engine->submit(request_of(5 + i, 12), &Recorder::on_event, recorders[static_cast<size_t>(c * 4 + i)].get())
                .status);
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const auto& recorder : recorders) recorder->wait();
  for (int i = 4; i < 16; ++i)
    CHECK(recorders[static_cast<size_t>(i)]->tokens == recorders[static_cast<size_t>(i % 4)]->tokens);
  const EngineStats stats = engine->stats();
  CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
  CHECK_EQ(stats.num_free_state_slots, stats.num_state_slots);
}

PAGODA_TEST(engine_thread_cancel_ends_one_request_and_leaves_the_others) {
  auto engine = start_engine();
  Recorder kept;
  HeldRecorder dropped;
  const SubmitResult first = engine->submit(request_of(5, 900), &HeldRecorder::on_event, &dropped);
  CHECK_OK(first.status);
  CHECK_OK(engine->submit(request_of(6, 20), &Recorder::on_event, &kept).status);
  dropped.wait_until_held();
  engine->cancel(first.request_id);
  dropped.may_go = true;
  dropped.wait();
  kept.wait();
  CHECK(dropped.reason == FinishReason::cancelled);
  CHECK(kept.reason == FinishReason::length && kept.tokens.size() == 20);
}

PAGODA_TEST(engine_thread_shut_down_cancels_requests_in_flight) {
  for (int round = 0; round < 20; ++round) {
    Recorder recorders[6];
    auto engine = start_engine();
    std::thread caller([&] {
      for (Recorder& recorder : recorders) {
        if (!engine->submit(request_of(9, 900), &Recorder::on_event, &recorder).status.is_ok())
          recorder.finished = true;
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    engine->shut_down();
    caller.join();
    for (const Recorder& recorder : recorders) CHECK(recorder.finished.load());
    Recorder late;
    CHECK(engine->submit(request_of(3, 3), &Recorder::on_event, &late).status.code == StatusCode::shut_down);
    engine->shut_down();  // twice is fine
    CHECK_EQ(engine->stats().num_free_blocks, engine->stats().num_blocks);
  }
}

PAGODA_TEST(engine_thread_many_threads_may_shut_it_down_at_once) {
  for (int round = 0; round < 50; ++round) {
    Recorder recorder;
    auto engine = start_engine();
    CHECK_OK(engine->submit(request_of(9, 900), &Recorder::on_event, &recorder).status);
    std::atomic<int> num_ready{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&] {
        ++num_ready;
        while (num_ready < 4) std::this_thread::yield();
        engine->shut_down();
        CHECK(recorder.finished.load());
        CHECK_EQ(engine->stats().num_free_blocks, engine->stats().num_blocks);
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
}

PAGODA_TEST(engine_thread_may_be_shut_down_from_inside_its_own_event) {
  struct Owner {
    std::unique_ptr<EngineThread> engine = start_engine();
    std::atomic<bool> has_token{false}, done{false};
    static void on_event(void* context, const Event* event) {
      Owner& self = *static_cast<Owner*>(context);
      if (event->kind == EventKind::finished) self.done = true;
      self.has_token = true;
      self.engine->shut_down();
    }
  } owner;
  CHECK_OK(owner.engine->submit(request_of(4, 900), &Owner::on_event, &owner).status);
  while (!owner.has_token) std::this_thread::yield();
  owner.engine->shut_down();  // this one waits for the end
  CHECK(owner.done.load());
  Recorder late;
  CHECK(owner.engine->submit(request_of(3, 3), &Recorder::on_event, &late).status.code == StatusCode::shut_down);
}

PAGODA_TEST(engine_thread_may_be_dropped_from_inside_its_own_event) {
  struct Owner {
    std::unique_ptr<EngineThread> engine;
    std::atomic<bool> done{false};
    static void on_event(void* context, const Event* event) {
      Owner& self = *static_cast<Owner*>(context);
      if (event->kind == EventKind::token) self.engine.reset();
      else self.done = true;
    }
  };
  auto owner = std::make_unique<Owner>();
  auto engine = start_engine();
  EngineThread* raw = engine.get();
  owner->engine = std::move(engine);
  CHECK_OK(raw->submit(request_of(4, 9), &Owner::on_event, owner.get()).status);
  for (int i = 0; i < 600'000 && !owner->done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(owner->done.load());
}

PAGODA_TEST(engine_thread_hands_out_the_device_profile_from_any_thread) {
  CHECK_EQ(start_engine()->take_profile().size(), size_t{0});
  auto engine = start_engine(64, std::make_unique<ProfiledDevice>());
  CHECK_EQ(engine->take_profile().size(), size_t{0});
  engine->set_profiling(true);
  Recorder recorder;
  CHECK_OK(engine->submit(request_of(5, 40), &Recorder::on_event, &recorder).status);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      const std::vector<OpTime> profile = engine->take_profile();
      if (profile.size() == 1 && profile[0].name == "matmul") sum += profile[0].calls;
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK_EQ(sum.load(), int64_t{1 + 2 + 3 + 4});
  recorder.wait();
  engine->set_profiling(false);
  CHECK_EQ(engine->take_profile().size(), size_t{0});
  engine->shut_down();
  CHECK_EQ(engine->take_profile().size(), size_t{0});
}

}  // namespace pagoda::engine
