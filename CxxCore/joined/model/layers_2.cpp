// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/model/layers/latent_attention.cpp"
#include "../../src/model/layers/mlp.cpp"
#include "../../src/model/layers/mtp_head.cpp"
#include "../../src/model/layers/ngrams.cpp"
#include "../../src/model/layers/rope.cpp"
#include "../../src/model/layers/streams.cpp"
