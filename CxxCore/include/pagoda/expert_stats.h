// ExpertStats: what happened to the experts that stay in the model's files (EngineOptions::expert_memory_bytes).
#pragma once

#include <cstdint>

namespace pagoda {

struct ExpertStats {         // since the load
  int64_t memory_bytes = 0;  // for experts; 0: none are read from files
  // Experts in the products of steps: in memory, being read already, and not.
  int64_t num_hits = 0, num_late = 0, num_misses = 0;
  int64_t num_reads = 0, read_bytes = 0;  // as in memory
  double wait_seconds = 0;                // of products, for reads
  // Guesses at the next layer's experts, and those of them that it used.
  int64_t num_guesses = 0, num_right_guesses = 0;
};

}  // namespace pagoda
