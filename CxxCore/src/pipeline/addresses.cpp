// Addresses: a list for TCP; under MPI all other ranks.
#include "pipeline/addresses.h"

#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "pipeline/mpi.h"
#include "pipeline/tcp.h"

namespace pagoda::pipeline {

static Result<std::vector<StageAddress>> find_ranks() {
  PAGODA_ASSIGN_OR_RETURN(auto mpi, Mpi::get());
  std::vector<StageAddress> stages;
  for (int rank = 1; rank < mpi->num_ranks(); ++rank)
    stages.push_back({concat("rank ", rank), [mpi, rank] { return mpi->connect(rank); }});
  if (stages.empty())
    return make_field_error(StatusCode::invalid_argument, "pipeline",
                            "pipeline needs two ranks at least: mpirun -np 2");
  return stages;
}

Result<std::vector<StageAddress>> find_stages(const std::string& text, int timeout_ms) {
  if (text == "mpi") return find_ranks();
  std::vector<StageAddress> stages;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string address = text.substr(begin, end - begin);
    if (address.find(':') == std::string::npos)
      return make_field_error(StatusCode::invalid_argument, "pipeline",
                              "pipeline must be host:port,host:port or mpi, not '" + text + "'");
    stages.push_back({address, [address, timeout_ms] { return connect_tcp(address, timeout_ms); }});
    begin = end + 1;
  }
  return stages;
}

}  // namespace pagoda::pipeline
