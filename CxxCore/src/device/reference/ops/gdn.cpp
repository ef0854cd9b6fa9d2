// gdn: the plain recurrence S = e^g S; u = beta (v - S^T k); S = S + k u^T; o = S^T q, token by token in double.
// Between calls only the state in GdnArgs is kept: S at the block boundary and the float rows (k, u, G) since then. The
// running state is recomputed from those rows, so that chunking changes no bit.
#include <vector>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace pagoda::device::reference {
namespace {

struct Head {  // one V-head of one sequence
  int64_t dk, dv;
  float *state, *k_rows, *u_rows, *g_rows;  // in GdnArgs' tensors
  std::vector<double> s;                    // running state [dk, dv]
};

float& state_at(const Head& h, int64_t d, int64_t j) { return h.state[gdn_state_index(d, j, h.dk, h.dv)]; }

void load_state(Head& h) {
  for (int64_t d = 0; d < h.dk; ++d)
    for (int64_t j = 0; j < h.dv; ++j) h.s[d * h.dv + j] = state_at(h, d, j);
}

void store_state(const Head& h) {
  for (int64_t d = 0; d < h.dk; ++d)
    for (int64_t j = 0; j < h.dv; ++j) state_at(h, d, j) = static_cast<float>(h.s[d * h.dv + j]);
}

void decay(Head& h, int64_t row) {
  const double factor = std::exp(static_cast<double>(h.g_rows[row]) - (row > 0 ? h.g_rows[row - 1] : 0.0f));
  for (double& x : h.s) x *= factor;
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

void run_token(Head& h, const GdnArgs& args, int64_t t, int64_t k_head, int64_t v_head, int64_t row) {
  const float *q_raw = at<float>(args.q, t, k_head), *k_raw = at<float>(args.k, t, k_head),
              *v = at<float>(args.v, t, v_head);
  const double q_scale = 1.0 / std::sqrt(sum_of_squares(q_raw, h.dk) + 1e-6) / std::sqrt(static_cast<double>(h.dk));
  const double k_scale = 1.0 / std::sqrt(sum_of_squares(k_raw, h.dk) + 1e-6);
  double q[kMaxHeadDim], k[kMaxHeadDim];
  for (int64_t d = 0; d < h.dk; ++d) {
    q[d] = q_raw[d] * q_scale;
    k[d] = h.k_rows[row * h.dk + d] = static_cast<float>(k_raw[d] * k_scale);
  }
  const double a = static_cast<double>(at<float>(args.a, t)[v_head]) + host_data<float>(args.dt_bias)[v_head];
  const double g = -std::exp(static_cast<double>(host_data<float>(args.a_log)[v_head])) * softplus(a);
  const double beta = args.beta_scale * sigmoid(at<float>(args.b, t)[v_head]);
  h.g_rows[row] = static_cast<float>((row > 0 ? h.g_rows[row - 1] : 0.0f) + g);
  decay(h, row);
  for (int64_t j = 0; j < h.dv; ++j)
    h.u_rows[row * h.dv + j] = static_cast<float>(beta * (v[j] - state_times(h, k, j)));
  add_row(h, row);
  for (int64_t j = 0; j < h.dv; ++j) at<float>(args.out, t, v_head)[j] = static_cast<float>(state_times(h, q, j));
}

Head start_head(const GdnArgs& args, int64_t slot, int64_t k_head, int64_t v_head, int64_t num_rows) {
  Head h{args.q.shape[2],
         args.v.shape[2],
         at<float>(args.state, slot, v_head),
         at<float>(args.k_rows, slot, k_head),
         at<float>(args.u_rows, slot, v_head),
         at<float>(args.g_rows, slot, v_head),
         {}};
  h.s.resize(static_cast<size_t>(h.dk * h.dv));
  load_state(h);
  for (int64_t row = 0; row < num_rows; ++row) {
    decay(h, row);
    add_row(h, row);
  }
  return h;
}

// The V-heads of one K-head advance through time together: they share its rows, which the next block overwrites.
void run_group(const GdnArgs& args, int64_t sequence, int64_t k_head) {
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens) + sequence;
  const int64_t slot = host_data<int32_t>(args.sequences.state_slots)[sequence];
  const int64_t group_size = args.v.shape[1] / args.q.shape[1];
  int64_t row = (host_data<int32_t>(args.sequences.context_lens)[sequence] - (bounds[1] - bounds[0])) % kGdnBlock;
  std::vector<Head> heads;
  for (int64_t i = 0; i < group_size; ++i)
    heads.push_back(start_head(args, slot, k_head, k_head * group_size + i, row));
  for (int64_t t = bounds[0]; t < bounds[1]; ++t) {
    for (int64_t i = 0; i < group_size; ++i) run_token(heads[i], args, t, k_head, k_head * group_size + i, row);
    if (++row < kGdnBlock) continue;
    for (Head& h : heads) {
      store_state(h);
      load_state(h);
    }
    row = 0;
  }
}

}  // namespace

void run(const GdnArgs& args) noexcept {
  for (int64_t b = 0; b < args.sequences.context_lens.shape[0]; ++b)
    for (int64_t k_head = 0; k_head < args.q.shape[1]; ++k_head) run_group(args, b, k_head);
}

}  // namespace pagoda::device::reference
