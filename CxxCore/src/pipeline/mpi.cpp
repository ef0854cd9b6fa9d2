// MPI: the dozen functions that a pipeline needs, and channels whose frames are messages of one tag.
#include "pipeline/mpi.h"

#include <dlfcn.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"

namespace pagoda::pipeline {

using Clock = std::chrono::steady_clock;

struct MpiFunctions {
  using Handle = void*;
  struct alignas(16) MpiStatus {
    int source = 0, tag = 0;
    int rest[14] = {};
  };
  int (*init_thread)(int*, char***, int, int*) = nullptr;
  int (*initialized)(int*) = nullptr;
  int (*finalize)() = nullptr;
  int (*comm_rank)(Handle, int*) = nullptr;
  int (*comm_size)(Handle, int*) = nullptr;
  int (*set_errhandler)(Handle, Handle) = nullptr;
  int (*isend)(const void*, int, Handle, int, int, Handle, Handle*) = nullptr;
  int (*irecv)(void*, int, Handle, int, int, Handle, Handle*) = nullptr;
  int (*iprobe)(int, int, Handle, int*, MpiStatus*) = nullptr;
  int (*get_count)(const MpiStatus*, Handle, int*) = nullptr;
  int (*test)(Handle*, int*, MpiStatus*) = nullptr;
  int (*cancel)(Handle*) = nullptr;
  int (*library_version)(char*, int*) = nullptr;
  Handle world = nullptr, byte = nullptr, errors_return = nullptr;
};

namespace {

constexpr int kSerialized = 2;  // MPI_THREAD_SERIALIZED
constexpr int kAnyTag = -1, kQuitTag = 32'000, kMaxSession = 30'000;
constexpr int kVersionBytes = 8192;  // more than any MPI_MAX_LIBRARY_VERSION_STRING

Status failed(const char* what, int code) {
  return make_error(StatusCode::io_error, concat(what, " gave error ", code));
}

// Sleeps briefly, longer the longer nothing has arrived: a rank with one core needs the time for computing.
void pause(int& count) {
  std::this_thread::sleep_for(std::chrono::microseconds(count < 50 ? 20 : 200));
  ++count;
}

void* open_library() {
  for (const char* name : {"libmpi.so.40", "libmpi.so", "libmpi.40.dylib", "libmpi.dylib"})
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  return nullptr;
}

}  // namespace

class MpiChannel final : public Channel {
 public:
  MpiChannel(Mpi& mpi, int rank, int tag) : mpi_(mpi), rank_(rank), tag_(tag), peer_(concat("rank ", rank)) {}
  ~MpiChannel() override { close(); }

  Status send(std::span<const std::byte> frame, int timeout_ms) override {
    return mpi_.send(rank_, tag_, frame, timeout_ms, &is_closed_);
  }
  Status receive(Bytes& frame, uint64_t max_bytes, int timeout_ms) override {
    const auto begin = Clock::now();
    for (int count = 0;; pause(count)) {
      if (is_closed_) return make_error(StatusCode::io_error, "the connection was closed here");
      int tag = tag_, size = 0;
      PAGODA_ASSIGN_OR_RETURN(const bool is_there, mpi_.probe(rank_, tag, size));
      if (!is_there) {
        if (Clock::now() - begin < std::chrono::milliseconds(timeout_ms)) continue;
        return make_error(StatusCode::io_error, concat("nothing was heard for ", timeout_ms, " ms"));
      }
      if (size < 0 || static_cast<uint64_t>(size) > max_bytes)
        return make_error(StatusCode::bad_file,
                          concat(peer_, " sent a frame of ", size, " bytes, at most ", max_bytes, " are allowed"));
      frame.resize(static_cast<size_t>(size));
      PAGODA_RETURN_IF_ERROR(mpi_.receive(rank_, tag_, frame, timeout_ms, is_closed_));
      return frame.empty() ? make_error(StatusCode::io_error, "the other end closed the connection") : ok_status();
    }
  }
  // An empty frame tells the peer.
  void close() noexcept override {
    if (!is_closed_.exchange(true)) (void)mpi_.send(rank_, tag_, {}, 100, nullptr);
  }
  const std::string& peer() const noexcept override { return peer_; }

 private:
  Mpi& mpi_;
  const int rank_, tag_;
  const std::string peer_;
  std::atomic<bool> is_closed_ = false;
};

Result<Mpi*> Mpi::get() {
  static std::mutex mutex;
  static std::unique_ptr<Mpi> world;
  const std::lock_guard lock(mutex);
  if (world) return world.get();
  std::unique_ptr<Mpi> made(new Mpi());
  PAGODA_RETURN_IF_ERROR(made->open());
  world = std::move(made);
  return world.get();
}

Status Mpi::open() {
  void* library = open_library();
  if (!library) return make_error(StatusCode::unsupported, "no MPI library was found; install Open MPI (libmpi.so.40)");
  mpi_ = std::make_unique<MpiFunctions>();
  bool is_complete = true;
  const auto find = [&](const char* name) {
    void* symbol = ::dlsym(library, name);
    is_complete = is_complete && symbol != nullptr;
    return symbol;
  };
  const auto load = [&]<class F>(F& function, const char* name) { function = reinterpret_cast<F>(find(name)); };
  load(mpi_->library_version, "MPI_Get_library_version");
  mpi_->world = find("ompi_mpi_comm_world");
  mpi_->byte = find("ompi_mpi_byte");
  mpi_->errors_return = find("ompi_mpi_errors_return");
  if (!is_complete) {
    std::string version = "a library without a version";
    if (mpi_->library_version) {
      char text[kVersionBytes] = {};
      int size = 0;
      mpi_->library_version(text, &size);
      version = std::string(text).substr(0, 60);
      version = version.substr(0, version.find('\n'));
    }
    return make_error(StatusCode::unsupported, "pipeline needs Open MPI; the MPI library found is " + version);
  }
  load(mpi_->init_thread, "MPI_Init_thread");
  load(mpi_->initialized, "MPI_Initialized");
  load(mpi_->finalize, "MPI_Finalize");
  load(mpi_->comm_rank, "MPI_Comm_rank");
  load(mpi_->comm_size, "MPI_Comm_size");
  load(mpi_->set_errhandler, "MPI_Comm_set_errhandler");
  load(mpi_->isend, "MPI_Isend");
  load(mpi_->irecv, "MPI_Irecv");
  load(mpi_->iprobe, "MPI_Iprobe");
  load(mpi_->get_count, "MPI_Get_count");
  load(mpi_->test, "MPI_Test");
  load(mpi_->cancel, "MPI_Cancel");
  if (!is_complete)
    return make_error(StatusCode::unsupported, "the MPI library lacks a function that a pipeline needs");
  int is_initialized = 0, provided = kSerialized;
  mpi_->initialized(&is_initialized);
  if (!is_initialized)
    if (const int code = mpi_->init_thread(nullptr, nullptr, kSerialized, &provided))
      return failed("MPI_Init_thread", code);
  if (provided < kSerialized) return make_error(StatusCode::unsupported, "the MPI library allows no threads");
  mpi_->set_errhandler(mpi_->world, mpi_->errors_return);
  mpi_->comm_rank(mpi_->world, &rank_);
  mpi_->comm_size(mpi_->world, &num_ranks_);
  return ok_status();
}

Mpi::~Mpi() {
  if (!mpi_ || num_ranks_ == 0) return;
  const std::byte quit{1};
  for (int rank = 1; rank_ == 0 && rank < num_ranks_; ++rank) (void)send(rank, kQuitTag, {&quit, 1}, 1000, nullptr);
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  mpi_->finalize();
}

Result<std::unique_ptr<Channel>> Mpi::connect(int rank) {
  const std::lock_guard lock(mutex_);
  session_ = session_ % kMaxSession + 1;
  return std::unique_ptr<Channel>(std::make_unique<MpiChannel>(*this, rank, session_));
}

Result<std::unique_ptr<Channel>> Mpi::accept(int timeout_ms) {
  const auto begin = Clock::now();
  for (int count = 0;; pause(count)) {
    int tag = kAnyTag, size = 0;
    PAGODA_ASSIGN_OR_RETURN(const bool is_there, probe(0, tag, size));
    if (is_there && tag == kQuitTag) return make_error(StatusCode::shut_down, "the first rank has ended");
    if (is_there && tag != session_) {
      session_ = tag;
      return std::unique_ptr<Channel>(std::make_unique<MpiChannel>(*this, 0, tag));
    }
    Bytes stale(static_cast<size_t>(size));  // a frame of the previous channel
    static const std::atomic<bool> never = false;
    if (is_there) PAGODA_RETURN_IF_ERROR(receive(0, tag, stale, timeout_ms, never));
    if (Clock::now() - begin >= std::chrono::milliseconds(timeout_ms))
      return make_error(StatusCode::resource_exhausted, "no connection came");
  }
}

// Starts a request if it is null, and tests it. The caller holds the mutex.
template <class Start>
Result<bool> Mpi::advance(void*& request, const char* name, Start&& start) {
  if (is_over_) return make_error(StatusCode::shut_down, "MPI has ended");
  if (!request)
    if (const int code = start()) return failed(name, code);
  int is_done = 0;
  MpiFunctions::MpiStatus status;
  if (const int code = mpi_->test(&request, &is_done, &status)) return failed("MPI_Test", code);
  return is_done != 0;
}

// Calls of the library are short; between two of them other threads can proceed.
Status Mpi::send(int rank, int tag, std::span<const std::byte> frame, int timeout_ms, const std::atomic<bool>* closed) {
  const auto begin = Clock::now();
  MpiFunctions::Handle request = nullptr;
  for (int count = 0;; pause(count)) {
    {
      const std::lock_guard lock(mutex_);
      const auto start = [&] {
        return mpi_->isend(frame.data(), static_cast<int>(frame.size()), mpi_->byte, rank, tag, mpi_->world, &request);
      };
      const auto is_done = advance(request, "MPI_Isend", start);
      if (!is_done.is_ok() || *is_done) return is_done.status;
    }
    const bool is_late = Clock::now() - begin >= std::chrono::milliseconds(timeout_ms);
    if (!is_late && !(closed && *closed)) continue;
    const std::lock_guard lock(mutex_);
    mpi_->cancel(&request);
    return make_error(StatusCode::io_error, is_late ? concat("a frame was not received for ", timeout_ms, " ms")
                                                    : "the connection was closed here");
  }
}

Result<bool> Mpi::probe(int rank, int& tag, int& size) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return make_error(StatusCode::shut_down, "MPI has ended");
  int is_there = 0;
  MpiFunctions::MpiStatus status;
  if (const int code = mpi_->iprobe(rank, tag, mpi_->world, &is_there, &status)) return failed("MPI_Iprobe", code);
  if (!is_there) return false;
  tag = status.tag;
  if (const int code = mpi_->get_count(&status, mpi_->byte, &size)) return failed("MPI_Get_count", code);
  return true;
}

Status Mpi::receive(int rank, int tag, std::span<std::byte> frame, int timeout_ms, const std::atomic<bool>& closed) {
  const auto begin = Clock::now();
  MpiFunctions::Handle request = nullptr;
  for (int count = 0;; pause(count)) {
    const std::lock_guard lock(mutex_);
    const auto start = [&] {
      return mpi_->irecv(frame.data(), static_cast<int>(frame.size()), mpi_->byte, rank, tag, mpi_->world, &request);
    };
    const auto is_done = advance(request, "MPI_Irecv", start);
    if (!is_done.is_ok() || *is_done) return is_done.status;
    if (!closed && Clock::now() - begin < std::chrono::milliseconds(timeout_ms)) continue;
    mpi_->cancel(&request);
    return make_error(StatusCode::io_error, "a frame did not come whole");
  }
}

}  // namespace pagoda::pipeline
