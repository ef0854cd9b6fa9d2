// ngram_embedding and dilated_conv, row by row.
#include <algorithm>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

// Calls body(row, position, slot) for each row in order, and then after_sequence(first row, end, position, slot).
template <class Body, class After>
void for_rows(const SequenceArgs& s, Body&& body, After&& after_sequence) {
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b) {
    const int64_t slot = host_data<int32_t>(s.state_slots)[b], begin = bounds[b], end = bounds[b + 1];
    const int64_t first = host_data<int32_t>(s.context_lens)[b] - (end - begin);
    for (int64_t row = begin; row < end; ++row) body(row, first, row - begin, slot);
    after_sequence(begin, end, first, slot);
  }
}

}  // namespace

Status run(const NgramEmbeddingArgs& args) noexcept {
  const int64_t ring = args.tokens.shape[1], dim = args.table->cols(), heads = args.hash->num_heads();
  const int32_t* ids = host_data<int32_t>(args.ids);
  Status status;
  for_rows(
      args.sequences,
      [&](int64_t row, int64_t first, int64_t done, int64_t slot) {
        int32_t tokens[kMaxNgramSize];
        for (int64_t i = 0; i < args.hash->ngram_size; ++i) {
          const int64_t position = first + done - i;
          tokens[i] = i <= done      ? ids[row - i]
                      : position < 0 ? args.hash->eos_token_id
                                     : at<int32_t>(args.tokens, slot)[position % ring];
        }
        int64_t rows[kMaxNgramHeads];
        args.hash->rows(tokens, rows);
        for (int64_t head = 0; status.is_ok() && head < heads; ++head)
          status = args.table->read(rows[head], {at<float>(args.out, row) + head * dim, static_cast<size_t>(dim)});
      },
      [&](int64_t begin, int64_t end, int64_t first, int64_t slot) {
        for (int64_t row = std::max(begin, end - ring); row < end; ++row)
          at<int32_t>(args.tokens, slot)[(first + row - begin) % ring] = ids[row];
      });
  return status;
}

void run(const DilatedConvArgs& args) noexcept {
  const int64_t ring = args.tail.shape[1], kernel = args.weight.shape[0], channels = args.x.shape[1];
  for_rows(
      args.sequences,
      [&](int64_t row, int64_t first, int64_t done, int64_t slot) {
        for (int64_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (int64_t i = 0; i < kernel; ++i) {
            const int64_t back = (kernel - 1 - i) * args.dilation, position = first + done - back;
            const double x = back <= done   ? at<float>(args.x, row - back)[c]
                             : position < 0 ? 0.0
                                            : at<float>(args.tail, slot, position % ring)[c];
            sum += x * at<float>(args.weight, i)[c];
          }
          float& out = at<float>(args.out, row)[c];
          out = static_cast<float>(out + (at<float>(args.value, row)[c] + silu(sum)));
        }
      },
      [&](int64_t begin, int64_t end, int64_t first, int64_t slot) {
        for (int64_t row = std::max(begin, end - ring); row < end; ++row)
          std::copy_n(at<float>(args.x, row), channels, at<float>(args.tail, slot, (first + row - begin) % ring));
      });
}

}  // namespace pagoda::device::reference
