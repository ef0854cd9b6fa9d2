// Arguments of argmax and sample, which pick tokens on devices whose memory is far from the host. On a CPU the sampler
// reads the logits itself.
#pragma once

#include "base/draw.h"
#include "device/op_args.h"

namespace pagoda::device {

// tokens[r] = the lowest id among the maxima of row r; -1 where the sampler rejects the row: it contains NaN or
// +infinity, or nothing above -infinity. Zeros of either sign are equal.
struct ArgmaxArgs {
  static constexpr const char* kName = "argmax";
  Tensor logits;  // f32 [R, vocab]
  Tensor tokens;  // i32 [R]
};

// tokens[r] = the token the sampler would draw from row r; -1 where none is requested or the sampler rejects the row.
struct SampleArgs {
  static constexpr const char* kName = "sample";
  Tensor logits;  // f32 [R, vocab]
  Tensor draws;   // i64 [R, 7]: a Draw each, with top_k up to max_top_k(vocab)
  Tensor edits;   // i32 [n, 4]: a LogitEdit each, of the draws that have any; ids outside the vocabulary are ignored
  Tensor masks;   // i32 [n, words]: bit i % 32 of word i / 32 allows token i; both may be absent if no draw has any
  Tensor tokens;  // i32 [R]
  Tensor scores;  // i64 [R, 22]: a RowScore of each row that has a token and wants log probabilities; or absent
  // Whether any draw is whole, and whether any of those has top-p. Without them a device does less.
  bool has_whole = true, has_nucleus = true;
};

// A row is searched in parts in parallel, then their candidates are merged: the most elements of either stage.
constexpr int64_t kSamplePart = 4096;

constexpr int64_t max_top_k(int64_t vocab) noexcept {
  const int64_t parts = (vocab + kSamplePart - 1) / kSamplePart;
  return parts <= kSamplePart / 64 ? 64 : kSamplePart / parts;
}

}  // namespace pagoda::device
