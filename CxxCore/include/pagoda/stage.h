// A stage of a model that runs on several machines: any rank except the one with EngineOptions::pipeline.
#pragma once

#include <cstdint>
#include <string>

#include "pagoda/model_source.h"
#include "pagoda/options.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {

using StageLogCallback = void (*)(void* PAGODA_NULLABLE context, const char* PAGODA_NONNULL line);

// Listens at `address` (host:port; port 0 picks a free one, which the first log line names) and serves one first
// rank after another; uses only the options device, num_threads, weight_cache and pipeline_timeout_ms. Returns if it
// cannot start; with the address "mpi" also when the first rank has ended.
Status run_stage(const ModelSource& source, const EngineOptions& options, const std::string& address,
                 StageLogCallback PAGODA_NULLABLE log, void* PAGODA_NULLABLE context) noexcept;

struct MpiRank {
  Status status;
  int32_t rank = 0, num_ranks = 0;
};

// Loads MPI and joins the ranks started by mpirun.
MpiRank find_mpi_rank() noexcept;

}  // namespace pagoda
