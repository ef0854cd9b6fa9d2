// kda: the plain recurrence S = diag(decay) S; u = beta (v - S^T k); S = S + k u^T; o = S^T q, token by token in
// double. Between calls only the state in KdaArgs is kept, from which the running state is recomputed, so that chunking
// changes no bit.
#include <cmath>
#include <vector>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

struct Head {  // one head of one sequence
  int64_t dk, dv;
  float *state, *k_rows, *u_rows, *g_rows;  // in KdaArgs' tensors
  std::vector<double> s;                    // running state [dk, dv]
};

void load_state(Head& h) {
  for (int64_t d = 0; d < h.dk; ++d)
    for (int64_t j = 0; j < h.dv; ++j) h.s[d * h.dv + j] = h.state[gdn_state_index(d, j, h.dk, h.dv)];
}

void store_state(const Head& h) {
  for (int64_t d = 0; d < h.dk; ++d)
    for (int64_t j = 0; j < h.dv; ++j)
      h.state[gdn_state_index(d, j, h.dk, h.dv)] = static_cast<float>(h.s[d * h.dv + j]);
}

void decay(Head& h, int64_t row) {
  for (int64_t d = 0; d < h.dk; ++d)
    for (int64_t j = 0; j < h.dv; ++j) h.s[d * h.dv + j] *= h.g_rows[row * h.dk + d];
}

void add_row(Head& h, int64_t row) {
  for (int64_t d = 0; d < h.dk; ++d)
    for (int64_t j = 0; j < h.dv; ++j)
      h.s[d * h.dv + j] += static_cast<double>(h.k_rows[row * h.dk + d]) * h.u_rows[row * h.dv + j];
}

double state_times(const Head& h, const double* x, int64_t j) {
  double sum = 0;
  for (int64_t d = 0; d < h.dk; ++d) sum += h.s[d * h.dv + j] * x[d];
  return sum;
}

void run_token(Head& h, const KdaArgs& args, int64_t t, int64_t head, int64_t row) {
  const float *q_raw = at<float>(args.q, t, head), *k_raw = at<float>(args.k, t, head), *v = at<float>(args.v, t, head);
  const float *a = at<float>(args.a, t, head), *bias = at<float>(args.dt_bias, head);
  const double q_scale = 1.0 / std::sqrt(sum_of_squares(q_raw, h.dk) + 1e-6) / std::sqrt(static_cast<double>(h.dk));
  const double k_scale = 1.0 / std::sqrt(sum_of_squares(k_raw, h.dk) + 1e-6);
  const double rate = -std::exp(static_cast<double>(host_data<float>(args.a_log)[head]));
  double q[kMaxHeadDim], k[kMaxHeadDim];
  for (int64_t d = 0; d < h.dk; ++d) {
    q[d] = q_raw[d] * q_scale;
    k[d] = h.k_rows[row * h.dk + d] = static_cast<float>(k_raw[d] * k_scale);
    h.g_rows[row * h.dk + d] = static_cast<float>(std::exp(rate * softplus(static_cast<double>(a[d]) + bias[d])));
  }
  const double beta = sigmoid(at<float>(args.b, t)[head]);
  decay(h, row);
  for (int64_t j = 0; j < h.dv; ++j)
    h.u_rows[row * h.dv + j] = static_cast<float>(beta * (v[j] - state_times(h, k, j)));
  add_row(h, row);
  for (int64_t j = 0; j < h.dv; ++j) at<float>(args.out, t, head)[j] = static_cast<float>(state_times(h, q, j));
}

void run_head(const KdaArgs& args, int64_t sequence, int64_t head) {
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens) + sequence;
  const int64_t slot = host_data<int32_t>(args.sequences.state_slots)[sequence];
  int64_t row = (host_data<int32_t>(args.sequences.context_lens)[sequence] - (bounds[1] - bounds[0])) % kGdnBlock;
  Head h{args.q.shape[2],
         args.v.shape[2],
         at<float>(args.state, slot, head),
         at<float>(args.k_rows, slot, head),
         at<float>(args.u_rows, slot, head),
         at<float>(args.g_rows, slot, head),
         std::vector<double>(static_cast<size_t>(args.q.shape[2] * args.v.shape[2]))};
  load_state(h);
  for (int64_t s = 0; s < row; ++s) {
    decay(h, s);
    add_row(h, s);
  }
  for (int64_t t = bounds[0]; t < bounds[1]; ++t) {
    run_token(h, args, t, head, row);
    if (++row < kGdnBlock) continue;
    store_state(h);
    load_state(h);
    row = 0;
  }
}

}  // namespace

void run(const KdaArgs& args) noexcept {
  for (int64_t b = 0; b < args.sequences.context_lens.shape[0]; ++b)
    for (int64_t head = 0; head < args.q.shape[1]; ++head) run_head(args, b, head);
}

}  // namespace pagoda::device::reference
