// Stages of the public headers: a loop that accepts one first rank after another.
#include "pagoda/stage.h"
#include "base/assign_or_return.h"
#include "base/concat.h"

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "api/guard.h"
#include "engine/load/weight_facts.h"
#include "pipeline/mpi.h"
#include "pipeline/stage.h"
#include "pipeline/tcp.h"

namespace pagoda {
namespace {

constexpr int kAcceptMs = 1000;

using Accept = std::function<Result<std::unique_ptr<pipeline::Channel>>()>;
using Log = std::function<void(const std::string& line)>;

Status serve_all(pipeline::Stage& stage, const Accept& accept, const Log& log) {
  const std::atomic<bool> never = false;
  for (;;) {
    Result<std::unique_ptr<pipeline::Channel>> channel = accept();
    if (channel.is_ok()) {
      log("the first stage connected");
      log("the first stage has disconnected: " + stage.serve(std::move(*channel), never).message);
    } else if (channel.status.code == StatusCode::shut_down) {
      return ok_status();
    } else if (channel.status.code != StatusCode::resource_exhausted) {
      return channel.status;
    }
  }
}

}  // namespace

Status run_stage(const ModelSource& source, const EngineOptions& options, const std::string& address,
                 StageLogCallback log, void* context) noexcept {
  return api::guarded([&]() -> Status {
    const Log write = [&](const std::string& line) {
      if (log) log(context, line.c_str());
    };
    PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<pipeline::Stage> stage,
                            pipeline::Stage::open({.source = source,
                                                   .device = options.device,
                                                   .num_threads = options.num_threads,
                                                   .weight_cache = engine::weight_cache_of(source, options),
                                                   .timeout_ms = options.pipeline_timeout_ms,
                                                   .log = write}));
    if (address == "mpi") {
      PAGODA_ASSIGN_OR_RETURN(auto mpi, pipeline::Mpi::get());
      return serve_all(*stage, [&] { return mpi->accept(kAcceptMs); }, write);
    }
    PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<pipeline::TcpListener> listener, pipeline::TcpListener::open(address));
    write(concat("waiting for the first stage at port ", listener->port()));
    return serve_all(*stage, [&] { return listener->accept(kAcceptMs); }, write);
  });
}

MpiRank find_mpi_rank() noexcept {
  return api::guarded_result<MpiRank>([](MpiRank& found) {
    const Result<pipeline::Mpi*> mpi = pipeline::Mpi::get();
    if (mpi.is_ok()) found.rank = (*mpi)->rank(), found.num_ranks = (*mpi)->num_ranks();
    return mpi.status;
  });
}

}  // namespace pagoda
