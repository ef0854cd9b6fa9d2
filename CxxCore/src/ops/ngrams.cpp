// Argument checks of the ops of n-gram embeddings.
#include "ops/check.h"
#include "ops/ops.h"

namespace pagoda::ops {

Status ngram_embedding(device::Encoder& encoder, const device::NgramEmbeddingArgs& args) noexcept {
  Check check(args.kName);
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
  return encode(check, encoder, args);
}

Status dilated_conv(device::Encoder& encoder, const device::DilatedConvArgs& args) noexcept {
  Check check(args.kName);
  check.that(args.dilation >= 1 && args.dilation <= device::kMaxNgramSize, "dilation", "is outside 1 to 16");
  check_convolution(check, args.x, args.weight, args.dilation, args.tail, args.sequences, args.out);
  check.tensor("value", args.value, DType::f32, {args.x.shape[0], args.x.shape[1]});
  return encode(check, encoder, args);
}

}  // namespace pagoda::ops
