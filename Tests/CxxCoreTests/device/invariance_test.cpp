// R1 for single ops: a row's bits depend on its own prefix only, not on neighbours, chunks, threads or tiles.
#include "device/op_streams.h"

using namespace pagoda;
using namespace pagoda::test;

PAGODA_TEST(invariance_conv_bits_do_not_depend_on_chunks) {
  check_stream("causal_conv1d",
               [](const std::string& name, int threads) { return std::make_unique<ConvStream>(name, threads); });
}

PAGODA_TEST(invariance_gdn_bits_do_not_depend_on_chunks) {
  for (const auto& [dk, dv] : {std::pair<int64_t, int64_t>{8, 8}, {24, 40}, {64, 96}, {128, 32}, {136, 16}})
    check_stream("gdn " + std::to_string(dk), [dk = dk, dv = dv](const std::string& name, int threads) {
      return std::make_unique<GdnStream>(name, threads, dk, dv);
    });
  for (const auto& [dk, dv] : {std::pair<int64_t, int64_t>{24, 40}, {128, 32}, {136, 16}})
    check_stream("gdn over bfloat16 " + std::to_string(dk), [dk = dk, dv = dv](const std::string& name, int threads) {
      return std::make_unique<GdnStream>(name, threads, dk, dv, DType::bf16);
    });
  // GPUs give a lane two columns in prompts with so many heads, but not in single tokens.
  for (const DType state : {DType::f32, DType::bf16})
    check_stream("gdn of 80 heads", [state](const std::string& name, int threads) {
      return std::make_unique<GdnStream>(name, threads, 8, 40, state, 80);
    });
}

PAGODA_TEST(invariance_attention_bits_do_not_depend_on_chunks) {
  const struct {
    DType type;
    int64_t dim;
    int32_t window;
    float softcap = 0;
  } rows[] = {{DType::f32, 24, 0},   {DType::f16, 32, 0}, {DType::bf16, 64, 0},      {DType::bf16, 16, 19},
              {DType::bf16, 32, 19}, {DType::i8, 32, 0},  {DType::bf16, 32, 0, 2.0f}};
  for (const auto& row : rows)
    check_stream("paged_attention " + std::to_string(row.dim), [&](const std::string& name, int threads) {
      return std::make_unique<AttentionStream>(name, threads, row.type, row.dim, row.window, row.softcap);
    });
}

// The row of a rejected draft is never read.
PAGODA_TEST(invariance_rows_can_be_taken_back) {
  check_taking_back("causal_conv1d",
                    [](const std::string& name, int threads) { return std::make_unique<ConvStream>(name, threads); });
  check_taking_back(
      "gdn", [](const std::string& name, int threads) { return std::make_unique<GdnStream>(name, threads, 24, 40); });
  check_taking_back("paged_attention", [](const std::string& name, int threads) {
    return std::make_unique<AttentionStream>(name, threads, DType::bf16, 32, 0);
  });
}

// Stronger than R1: all machines with fused multiply-add agree, for any register width.
PAGODA_TEST(invariance_fused_paths_give_the_same_bits) {
  std::vector<std::string> fused = tested_devices();
  std::erase_if(fused, [](const std::string& name) { return name == "cpu:portable" || runs_kernels(name); });
  std::vector<Bytes> first;
  for (const std::string& name : fused) {
    std::vector<Bytes> got;
    GdnStream gdn(name, 2, 40, 72), gdn_bf16(name, 2, 40, 72, DType::bf16);
    AttentionStream attention(name, 2, DType::f16, 72, 0), int8_attention(name, 2, DType::i8, 64, 0);
    ConvStream conv(name, 2);
    for (Stream* stream :
         {static_cast<Stream*>(&gdn), static_cast<Stream*>(&gdn_bf16), static_cast<Stream*>(&attention),
          static_cast<Stream*>(&int8_attention), static_cast<Stream*>(&conv)})
      got.push_back(run(*stream, Chunks::random, 0, 6));
    if (first.empty()) first = got;
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != first[i])
        fail(__FILE__, __LINE__, name + " differs from " + fused[0] + " in stream " + std::to_string(i));
  }
}
