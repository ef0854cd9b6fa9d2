// args/sample.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/args/sample.h"
#include "device/gpu/generated/args_types.h"

namespace pagoda_args {


struct SampleRow {
  ulong top_p;
  ulong min_weight;
  ulong random;
  float temperature;
  uint top_k;
  uint first_edit;
  uint num_edits;
  uint mask;
  uint is_whole;
  uint num_logprobs;
  uint reserved;
};
static_assert(sizeof(SampleRow) == 56, "host and kernel agree");


struct SampleEdit {
  uint id;
  float bias;
  float repetition;
  float penalty;
};
static_assert(sizeof(SampleEdit) == 16, "host and kernel agree");


struct SampleScore {
  ulong total;
  float highest;
  float chosen;
  uint ids[20];
  float logits[20];
};
static_assert(sizeof(SampleScore) == 176, "host and kernel agree");
# 45 "Shaders/args/sample.h"
struct SampleCut {
  ulong rest[2];
  ulong last;
  uint bucket[2];
};
static_assert(sizeof(SampleCut) == 32, "host and kernel agree");

struct Sample {
  long logits_stride;
  uint vocab;
  uint parts;
  uint mask_words;
  uint is_raw;
  uint level;
  uint reserved;
};
static_assert(sizeof(Sample) == 32, "host and kernel agree");

}
