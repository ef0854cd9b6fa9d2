// Argument checks of the ops of n-gram embeddings.
#include "ops/ngrams.h"

#include "ops/check.h"

namespace pagoda::ops {
namespace {

constexpr const char* kNoNgrams = "n-gram embeddings";

}  // namespace

Status ngram_embedding(device::Encoder& encoder, const device::NgramEmbeddingArgs& args) noexcept {
  Check check("ngram_embedding");
  check.tensor("ids", args.ids, DType::i32, {kAny})
      .pool("tokens", args.tokens, DType::i32, {kAny, kAny})
      .that(args.hash != nullptr && args.table != nullptr, "table", "is missing");
  if (!check.is_ok()) return check.status();
  check.that(args.table->rows() == args.hash->num_rows, "table", "does not have the rows of the hash")
      .that(args.hash->ngram_size >= 2 && args.hash->ngram_size <= device::kMaxNgramSize, "hash",
            "has n-grams of a size outside 2 to 16")
      .that(args.hash->num_heads() <= device::kMaxNgramHeads, "hash", "has more than 256 heads")
      .that(args.tokens.shape[1] >= args.hash->ngram_size - 1, "tokens", "has fewer rows than an n-gram looks back")
      .tensor("out", args.out, DType::f32, {args.ids.shape[0], args.hash->num_heads() * args.table->cols()});
  check_sequences(check, args.sequences, /*wants_blocks=*/false, /*wants_slots=*/true);
  return encode_if_can(check, encoder, device::Op::ngrams, kNoNgrams, [&] { encoder.ngram_embedding(args); });
}

Status dilated_conv(device::Encoder& encoder, const device::DilatedConvArgs& args) noexcept {
  Check check("dilated_conv");
  check.tensor("x", args.x, DType::f32, {kAny, kAny});
  const int64_t rows = args.x.shape[0], channels = args.x.shape[1];
  check_taps(check, args.weight, channels);
  if (!check.is_ok()) return check.status();
  const int64_t kernel = args.weight.shape[0];
  check.that(args.dilation >= 1 && args.dilation <= device::kMaxNgramSize, "dilation", "is outside 1 to 16")
      .tensor("value", args.value, DType::f32, {rows, channels})
      .pool("tail", args.tail, DType::f32, {kAny, kAny, channels})
      .that(args.tail.shape[1] >= (kernel - 1) * args.dilation, "tail", "has fewer rows than the kernel looks back")
      .tensor("out", args.out, DType::f32, {rows, channels})
      .that(args.out.buffer != args.x.buffer || args.out.offset_bytes != args.x.offset_bytes, "out",
            "is x: later rows still need the inputs");
  check_sequences(check, args.sequences, /*wants_blocks=*/false, /*wants_slots=*/true);
  return encode_if_can(check, encoder, device::Op::ngrams, kNoNgrams, [&] { encoder.dilated_conv(args); });
}

}  // namespace pagoda::ops
