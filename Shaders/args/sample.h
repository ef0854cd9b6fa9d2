// Arguments of sample, shared by the kernels and the host.
#pragma once

#include "args/types.h"

namespace pagoda_args {

// How one row's token is drawn; in device memory, one per row.
struct SampleRow {
  ulong top_p;       // in units of 2^-64
  ulong min_weight;  // in units of 2^-40 of the most likely token's weight
  ulong random;
  float temperature;  // above 0
  uint top_k;         // up to 64; 0: no token is requested for this row
  uint first_edit;    // of the row's changes
  uint num_edits;
  uint mask;          // 1 + the index of its mask; 0: every token is allowed
  uint is_whole;      // 1: top_k is no limit
  uint num_logprobs;  // how many of the most likely tokens' logits are wanted, 1 at least; 0: no log probabilities
  uint reserved;
};
static_assert(sizeof(SampleRow) == 56, "host and kernel agree");

// A change of one logit: + bias, then / or * repetition, then - penalty.
struct SampleEdit {
  uint id;
  float bias;
  float repetition;  // 0: the token is removed
  float penalty;
};
static_assert(sizeof(SampleEdit) == 16, "host and kernel agree");

// What log probabilities need of a row.
struct SampleScore {
  ulong total;    // of all weights at temperature 1, in units of 2^-40 of the most likely token's
  float highest;  // logit
  float chosen;   // logit of the row's token
  uint ids[20];   // of the most likely tokens, in any order
  float logits[20];
};
static_assert(sizeof(SampleScore) == 176, "host and kernel agree");

// Where the most likely tokens of a row's top-p mass end. Tokens are sorted into buckets by their logits, then those of
// one bucket into finer ones.
struct SampleCut {
  ulong rest[2];   // of the mass, within the bucket and within the finer one: the last token is the one it falls in
  ulong last;      // candidate; key 0xffffffff: the finer bucket has too many tokens
  uint bucket[2];  // the bucket and the finer one
};
static_assert(sizeof(SampleCut) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;  // elements from one row to the next
  uint vocab;
  uint parts;       // per row, 4096 logits each
  uint mask_words;  // 32 bits each, from one mask to the next
  uint is_raw;      // 1: for log probabilities, of the logits before any change
  uint level;       // of the buckets: 0, then 1 for the finer ones
  uint reserved;
};
static_assert(sizeof(Sample) == 32, "host and kernel agree");

}  // namespace pagoda_args
