// Registry, memory, weights, copies and step errors, on every device.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/registry.h"
#include "device/rig.h"
#include "ops/ops.h"
#include "support/test.h"

using namespace pagoda;
using namespace pagoda::test;
using device::Tensor;

PAGODA_TEST(device_unknown_name_lists_the_known_ones) {
  auto made = device::make_device("abacus", 1);
  CHECK(made.status.code == StatusCode::invalid_argument);
  CHECK(made.status.message.find("'abacus'") != std::string::npos);
  for (const std::string& name : device::device_names()) CHECK(made.status.message.find(name) != std::string::npos);
  CHECK(!device::make_device("cpu:", 1).is_ok());
  CHECK(!device::make_device("cpu", -1).is_ok());
#ifndef __APPLE__
  CHECK(device::make_device("metal", 1).status.message.find("only Apple systems") != std::string::npos);
#endif
}

PAGODA_TEST(device_every_listed_name_opens) {
  for (const std::string& name : device::device_names()) CHECK_OK(device::make_device(name, 1));
}

PAGODA_TEST(device_auto_is_the_cpu_with_a_thread_per_core_where_there_is_no_gpu) {
  Rig rig("auto", 0);
  REQUIRE(rig.is_ok());
  const std::vector<std::string> names = device::device_names();
  for (const char* gpu : {"metal", "cuda"})
    if (std::ranges::find(names, gpu) != names.end()) return note(std::string("not run: there is ") + gpu);
  CHECK_EQ(rig.device().info().name, std::string("cpu"));
  CHECK(rig.device().info().description.find("thread") != std::string::npos);
  CHECK(rig.device().info().memory_limit_bytes > 0);
}

PAGODA_TEST(device_buffers_are_zero_and_aligned) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name, 1);
    for (size_t bytes : {size_t{0}, size_t{1}, size_t{100}, size_t{5} << 20}) {
      auto buffer = rig.device().allocate(bytes, "test");
      REQUIRE_OK(buffer);
      CHECK_EQ((*buffer)->size_bytes(), bytes);
      const auto* data = (*buffer)->host_pointer();  // null if only the device can read it
      CHECK_EQ(reinterpret_cast<uintptr_t>(data) % (bytes > (2 << 20) && !runs_kernels(name) ? 2 << 20 : 64), 0u);
      std::vector<std::byte> contents(bytes, std::byte{1});
      const Tensor whole = device::dense(buffer->get(), DType::u8, {static_cast<int64_t>(bytes)});
      CHECK_OK(rig.device().download(whole, contents.data(), contents.size()));
      CHECK(std::ranges::all_of(contents, [](std::byte value) { return value == std::byte{0}; }));
    }
  }
}

PAGODA_TEST(device_refuses_more_memory_than_there_is_with_numbers) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name, 1);
    auto buffer = rig.device().allocate(size_t{1} << 50, "kv cache");
    CHECK(buffer.status.code == StatusCode::out_of_memory);
    CHECK(buffer.status.message.find("kv cache") != std::string::npos);
    CHECK(buffer.status.message.find("1125899906842624") != std::string::npos);
  }
}

PAGODA_TEST(device_copies_stay_inside_the_tensor) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name, 1);
    const Tensor t = rig.floats({1, 2, 3, 4, 5, 6}, {2, 3});
    CHECK_EQ(rig.read(device::slice(t, 0, 1, 1)), (std::vector<float>{4, 5, 6}));
    float values[7] = {};
    CHECK(!rig.device().upload(t, values, 7 * sizeof(float)).is_ok());
    CHECK(!rig.device().download(device::slice(t, 0, 1, 1), values, 4 * sizeof(float)).is_ok());
    CHECK(!rig.device()
               .download(device::slice(t, 0, 2, 1), values, sizeof(float))
               .is_ok());  // past the end of the buffer
    CHECK(!rig.device().download(device::slice(t, 1, 0, 2), values, 4 * sizeof(float)).is_ok());  // not dense
    CHECK(!rig.device().upload(Tensor{}, values, 4).is_ok());
  }
}

PAGODA_TEST(device_weights_are_read_in_bounded_chunks) {
  Rig rig("cpu", 1);
  const int64_t rows = 3000, cols = 1000;
  int64_t next = 0;
  device::WeightSource source{"big", DType::f32, rows, cols, [&](int64_t begin, int64_t count, std::byte* into) {
                                CHECK_EQ(begin, next);
                                CHECK(count * cols * 4 <= (9 << 20));
                                next = begin + count;
                                for (int64_t i = 0; i < count * cols; ++i)
                                  reinterpret_cast<float*>(into)[i] = static_cast<float>((begin * cols + i) % 251);
                                return ok_status();
                              }};
  auto weight = rig.device().make_weight(source, WeightFormat::bf16);
  REQUIRE_OK(weight);
  CHECK_EQ(next, rows);
  CHECK_EQ((*weight)->size_bytes(), rig.device().weight_bytes(rows, cols, WeightFormat::bf16));
  const Tensor out = rig.zeros(DType::f32, {2, cols});
  CHECK_OK(ops::embedding(rig.encoder(), {rig.ints({2999, 1}), weight->get(), out}));
  const std::vector<float> got = rig.read(out);
  for (int64_t i = 0; i < cols; ++i) {
    CHECK_EQ(got[i], static_cast<float>((2999 * cols + i) % 251));
    CHECK_EQ(got[cols + i], static_cast<float>((cols + i) % 251));
  }
}

PAGODA_TEST(device_weight_conversion_is_exact_or_an_error) {
  const float huge = 1e6f, infinity = std::numeric_limits<float>::infinity();
  for (const std::string& name : device::device_names()) {
    Rig rig(name, 1);
    auto make = [&](float value, WeightFormat format) {
      return rig.device().make_weight({"w.weight", DType::f32, 1, 1,
                                       [=](int64_t, int64_t, std::byte* into) {
                                         std::copy_n(reinterpret_cast<const std::byte*>(&value), 4, into);
                                         return ok_status();
                                       }},
                                      format);
    };
    CHECK_OK(make(huge, WeightFormat::bf16));
    CHECK_OK(make(infinity, WeightFormat::f16));
    CHECK_OK(make(infinity, WeightFormat::bf16));
    auto refused = make(huge, WeightFormat::f16);
    CHECK(refused.status.code == StatusCode::unsupported);
    CHECK(refused.status.message.find("w.weight") != std::string::npos);
    for (WeightFormat format : {WeightFormat::q8, WeightFormat::q4})
      CHECK(make(infinity, format).status.code == StatusCode::unsupported);
  }
}

PAGODA_TEST(device_weight_reader_errors_come_through) {
  Rig rig("cpu", 1);
  auto made = rig.device().make_weight(
      {"w", DType::f32, 2, 2,
       [](int64_t, int64_t, std::byte*) { return make_error(StatusCode::io_error, "the disk is gone"); }},
      WeightFormat::f32);
  CHECK(made.status.code == StatusCode::io_error);
  CHECK(!rig.device().make_weight({"w", DType::f32, 0, 2, nullptr}, WeightFormat::f32).is_ok());
  CHECK(!rig.device()
             .make_weight({"w", DType::f32, int64_t{1} << 40, int64_t{1} << 40,
                           [](int64_t, int64_t, std::byte*) { return ok_status(); }},
                          WeightFormat::f32)
             .is_ok());
}

// A bad index must not touch memory; the step fails and the next one works.
PAGODA_TEST(device_bad_indices_fail_the_step_and_only_it) {
  for (const std::string& name : device::device_names()) {
    Rig rig(name, 1);
    if (rig.device().info().has_own_memory) {
      note(name + " not run: the host cannot read its indices, so nothing checks them");
      continue;
    }
    const Tensor x = rig.floats({1, 2, 3, 4}, {2, 2}), out = rig.zeros(DType::f32, {1, 2});
    for (int32_t bad : {-1, 2, 1000000}) {
      CHECK_OK(ops::gather_rows(rig.encoder(), {x, rig.ints({bad}), out}));
      const Status status = rig.finish();
      CHECK(status.code == StatusCode::device_error);
      CHECK(status.message.find(std::to_string(bad)) != std::string::npos);
      CHECK_EQ(rig.read(out), (std::vector<float>{0, 0}));
    }
    CHECK_OK(ops::embedding(rig.encoder(), {rig.ints({3}), rig.weight({1, 2, 3, 4}, 2, 2, WeightFormat::f32), out}));
    CHECK(!rig.finish().is_ok());
    CHECK_OK(ops::zero_slots(rig.encoder(), {x, rig.ints({-1})}));
    CHECK(!rig.finish().is_ok());
    const Tensor kv = rig.zeros(DType::f32, {1, 1, 2}), cache = rig.zeros(DType::f32, {2, 8, 1, 2});
    CHECK_OK(ops::reshape_and_cache(rig.encoder(), {kv, kv, rig.longs({16}), cache, cache}));
    CHECK(!rig.finish().is_ok());
    Batch batch{{0}, {1}};
    device::SequenceArgs s = make_sequences(rig, batch, 8, 1);
    s.block_tables = rig.ints({2}, {1, 1});
    CHECK_OK(ops::paged_attention(rig.encoder(), {kv, cache, cache, s, 1.0f, 0, kv}));
    CHECK(!rig.finish().is_ok());
    s = make_sequences(rig, batch, 8, 1);
    s.context_lens = rig.ints({0});
    CHECK_OK(ops::paged_attention(rig.encoder(), {kv, cache, cache, s, 1.0f, 0, kv}));
    CHECK(!rig.finish().is_ok());
    CHECK_OK(ops::gather_rows(rig.encoder(), {x, rig.ints({1}), out}));
    CHECK_OK(rig.finish());
    CHECK_EQ(rig.read(out), (std::vector<float>{3, 4}));
  }
}
