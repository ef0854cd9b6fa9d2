// ngram_embedding and dilated_conv: a task per row, then the rings, which the rows read.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "device/cpu/cpu_ops.h"
#include "device/cpu/ops/sequence_rows.h"
#include "device/host/access.h"

namespace pagoda::device::cpu {

using host::at;

namespace {

constexpr int64_t kChannelsPerPart = 256;

// Calls write(row, row in the ring, slot) for the last rows of each sequence.
template <class Write>
void write_rings(const SequenceArgs& s, int64_t ring, Write&& write) noexcept {
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  for (int64_t b = 0; b < s.context_lens.shape[0]; ++b) {
    const int64_t end = bounds[b + 1], slot = host_data<int32_t>(s.state_slots)[b];
    const int64_t after = host_data<int32_t>(s.context_lens)[b];
    for (int64_t row = std::max<int64_t>(bounds[b], end - ring); row < end; ++row)
      write(row, (after - (end - row)) % ring, slot);
  }
}

Status embed_row(const NgramEmbeddingArgs& args, int64_t row) noexcept {
  const SequenceRow at_row = find_row(args.sequences, row);
  const int64_t ring = args.tokens.shape[1], slot = host_data<int32_t>(args.sequences.state_slots)[at_row.sequence];
  int32_t tokens[kMaxNgramSize];
  for (int64_t i = 0; i < args.hash->ngram_size; ++i) {
    const int64_t position = at_row.position - i;
    tokens[i] = i <= at_row.index ? host_data<int32_t>(args.ids)[row - i]
                : position < 0    ? args.hash->eos_token_id
                                  : at<int32_t>(args.tokens, slot)[position % ring];
  }
  int64_t rows[kMaxNgramHeads];
  args.hash->rows(tokens, rows);
  const int64_t dim = args.table->cols();
  for (int64_t head = 0; head < args.hash->num_heads(); ++head)
    PAGODA_RETURN_IF_ERROR(
        args.table->read(rows[head], {at<float>(args.out, row) + head * dim, static_cast<size_t>(dim)}));
  return ok_status();
}

}  // namespace

Status run(const Context& context, const NgramEmbeddingArgs& args) noexcept {
  std::mutex mutex;
  Status status;
  context.for_each(args.ids.shape[0], 8 * args.out.shape[1], [&](int64_t row, int) {
    Status read = embed_row(args, row);
    if (read.is_ok()) return;
    const std::scoped_lock lock(mutex);
    status = std::move(read);
  });
  const int64_t ring = args.tokens.shape[1];
  write_rings(args.sequences, ring, [&](int64_t row, int64_t at_ring, int64_t slot) {
    at<int32_t>(args.tokens, slot)[at_ring] = host_data<int32_t>(args.ids)[row];
  });
  return status;
}

void run(const Context& context, const DilatedConvArgs& args) noexcept {
  const int64_t ring = args.tail.shape[1], kernel = args.weight.shape[0], channels = args.x.shape[1];
  context.for_each(args.x.shape[0], 4 * kernel * channels, [&](int64_t row, int) {
    const SequenceRow at_row = find_row(args.sequences, row);
    const int64_t slot = host_data<int32_t>(args.sequences.state_slots)[at_row.sequence];
    for (int64_t first = 0; first < channels; first += kChannelsPerPart) {
      const int64_t count = std::min(kChannelsPerPart, channels - first);
      alignas(64) float sum[kChannelsPerPart] = {};
      for (int64_t i = 0; i < kernel; ++i) {
        const int64_t back = (kernel - 1 - i) * args.dilation, position = at_row.position - back;
        if (position < 0) continue;
        const float* x =
            back <= at_row.index ? at<float>(args.x, row - back) : at<float>(args.tail, slot, position % ring);
        const float* weight = at<float>(args.weight, i) + first;
        for (int64_t c = 0; c < count; ++c) sum[c] += x[first + c] * weight[c];
      }
      context.kernels->add_silu(at<float>(args.value, row) + first, sum, count, at<float>(args.out, row) + first);
    }
  });
  write_rings(args.sequences, ring, [&](int64_t row, int64_t at_ring, int64_t slot) {
    std::memcpy(at<float>(args.tail, slot, at_ring), at<float>(args.x, row),
                static_cast<size_t>(channels) * sizeof(float));
  });
}

}  // namespace pagoda::device::cpu
