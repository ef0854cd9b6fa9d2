// Name, head, reading and writing of weight cache files.
#include "model/weights/cache.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/assign_or_return.h"
#include "base/cache_folder.h"
#include "base/checksum.h"
#include "base/concat.h"
#include "base/fnv1a.h"
#include "base/hash128.h"
#include "base/threads/thread_pool.h"
#include "base/threads/usable_cores.h"
#include "io/file_identity.h"
#include "io/file_writer.h"
#include "io/mapped_file.h"
#include "model/weights/pieces.h"

namespace pagoda::model {
namespace {

constexpr std::string_view kMagic = "pagoda weights 3";  // the number is the version of the file format
constexpr std::string_view kSuffix = ".pagoda-weights";
constexpr uint64_t kPage = 16384;                 // of any system, so that devices can share the map
constexpr size_t kChunkBytes = 4 << 20;           // the most that one checksum covers
constexpr size_t kRoundBytes = 64 * kChunkBytes;  // read or written at a time
constexpr std::byte kZeros[kPage]{};

uint64_t round_up(uint64_t n) noexcept { return (n + kPage - 1) / kPage * kPage; }

void append(std::string& text, uint64_t number) {  // in the machine's own byte order, like the matrices
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Everything that the bytes of the matrices depend on.
Result<uint64_t> identity(const std::vector<WeightGroup>& groups, const io::Checkpoint& checkpoint,
                          const std::string& layout) {
  Fnv1a hash;
  hash.add(kMagic);
  hash.add(layout);
  for (const auto& file : checkpoint.files()) PAGODA_RETURN_IF_ERROR(io::add_identity(*file, hash));
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    hash.add(static_cast<uint64_t>(group.cols));
    hash.add(uint64_t{group.parts.size()});
    for (const WeightGroup::Part& part : group.parts) {
      hash.add(part.name);
      hash.add(static_cast<uint64_t>(part.rows));
      hash.add(static_cast<uint64_t>(part.first_row));
      hash.add(static_cast<uint64_t>(part.matrix_rows));
      hash.add(static_cast<uint64_t>(part.tensor->dtype));
      hash.add(static_cast<uint64_t>(part.tensor->file_index));
      hash.add(part.tensor->offset_bytes);
      for (int32_t row : part.row_order) hash.add(static_cast<uint64_t>(row));
    }
  }
  return hash.value();
}

size_t num_chunks(uint64_t size_bytes) noexcept { return (size_bytes + kChunkBytes - 1) / kChunkBytes; }

// The checksums of all chunks, part by part.
std::vector<uint64_t> sums_of(const std::vector<std::span<const std::byte>>& parts, ThreadPool* pool) {
  std::vector<std::span<const std::byte>> chunks;
  for (std::span<const std::byte> rest : parts)
    for (; !rest.empty(); rest = rest.subspan(chunks.back().size()))
      chunks.push_back(rest.first(std::min(rest.size(), kChunkBytes)));
  std::vector<uint64_t> sums(chunks.size());
  auto add = [&](int64_t i, int) { sums[i] = checksum(chunks[i]); };
  if (pool != nullptr) pool->parallel_for(static_cast<int64_t>(sums.size()), add);
  else
    for (size_t i = 0; i < sums.size(); ++i) add(static_cast<int64_t>(i), 0);
  return sums;
}

std::unique_ptr<ThreadPool> threads_for_sums() {  // null: the caller's thread alone
  auto pool = ThreadPool::create(std::min(usable_cores(), 8));
  return pool.is_ok() ? std::move(*pool) : nullptr;
}

// A part of a mapped file, which stays mapped as long as one of its parts lives.
class MappedBuffer final : public device::Buffer {
 public:
  MappedBuffer(std::shared_ptr<const io::MappedFile> file, uint64_t offset_bytes, uint64_t size_bytes) noexcept
      : file_(std::move(file)), bytes_(file_->bytes().subspan(offset_bytes, size_bytes)) {}
  size_t size_bytes() const noexcept override { return bytes_.size(); }
  std::byte* host_pointer() noexcept override { return const_cast<std::byte*>(bytes_.data()); }  // read only

 private:
  std::shared_ptr<const io::MappedFile> file_;
  std::span<const std::byte> bytes_;
};

}  // namespace

Result<WeightCacheFile> WeightCacheFile::plan(const std::string& folder, const std::vector<WeightGroup>& groups,
                                              const io::Checkpoint& checkpoint, const device::Device& device,
                                              WeightFormat format) {
  if (folder.find('\0') != folder.npos) return make_error(StatusCode::invalid_argument, "the folder has a NUL byte");
  const std::string layout = device.weight_layout(format);
  if (layout.empty()) return make_error(StatusCode::unsupported, device.info().name + " has no form to keep");
  WeightCacheFile file;
  std::string formats;
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix) continue;
    for (const WeightPiece& piece : pieces_of(group, format, device)) {
      formats += concat(", ", weight_format_name(piece.format));
      file.extents_.push_back(
          {piece.format, 0, device.weight_bytes(piece.rows, group.cols, piece.format), piece.rows, group.cols});
    }
  }
  PAGODA_ASSIGN_OR_RETURN(const uint64_t id, identity(groups, checkpoint, layout + formats));
  file.folder_ = folder;
  file.path_ = folder + "/" + hex(id) + std::string(kSuffix);

  const size_t head_bytes = kMagic.size() + (3 + 4 * file.extents_.size()) * sizeof(uint64_t);
  file.size_bytes_ = round_up(head_bytes);
  size_t num_sums = 0;
  for (Extent& extent : file.extents_) {
    extent.offset_bytes = file.size_bytes_;
    file.size_bytes_ += round_up(extent.size_bytes);
    num_sums += num_chunks(extent.size_bytes);
  }
  file.sums_offset_bytes_ = file.size_bytes_;
  file.size_bytes_ += round_up(num_sums * sizeof(uint64_t));
  file.head_ = kMagic;
  for (uint64_t number : {id, uint64_t{file.extents_.size()}, file.size_bytes_}) append(file.head_, number);
  for (const Extent& extent : file.extents_)
    for (uint64_t number : {extent.offset_bytes, extent.size_bytes, static_cast<uint64_t>(extent.rows),
                            static_cast<uint64_t>(extent.cols)})
      append(file.head_, number);
  return file;
}

// Nothing in the file is trusted: its size and head must be exactly what write() would produce, no number in it
// determines where anything is, and every byte is covered by a checksum: otherwise a bit lost on disk would leave a
// slightly wrong model forever. All bytes are checked, not samples, before the first answer: it costs as much as
// reading (see checksum), and the first step would read nearly all of it anyway.
// The file is mapped instead of read into our own huge pages. Medians on a busy machine with two cores, 0.8B in 8 bits,
// in tokens per second of processor time: mapped 16.7 against 16.5 from ext4 with large folios, 16.3 against 16.5 and
// 16.7 from tmpfs with pages of 4 KiB; and reading takes 0.8 to 1.7 s.
Result<std::vector<std::unique_ptr<device::Weight>>> WeightCacheFile::read(
    device::Device& device, const std::function<Status(int64_t)>& count_bytes) const {
  PAGODA_ASSIGN_OR_RETURN(auto file, io::MappedFile::open(path_, size_bytes_));
  if (std::memcmp(file->bytes().data(), head_.data(), head_.size()) != 0)
    return make_error(StatusCode::bad_file, path_ + ": does not begin as expected");
  const auto pool = threads_for_sums();
  const std::byte* expected = file->bytes().data() + sums_offset_bytes_;
  std::vector<std::unique_ptr<device::Weight>> matrices;
  while (matrices.size() < extents_.size()) {
    std::vector<std::span<const std::byte>> parts;
    for (size_t i = matrices.size(), bytes = 0; i < extents_.size() && bytes < kRoundBytes; ++i) {
      parts.push_back(file->bytes().subspan(extents_[i].offset_bytes, extents_[i].size_bytes));
      bytes += parts.back().size();
    }
    const std::vector<uint64_t> sums = sums_of(parts, pool.get());
    if (std::memcmp(expected, sums.data(), sums.size() * sizeof(uint64_t)) != 0)
      return make_error(StatusCode::bad_file, path_ + ": a matrix is not as it was written");
    expected += sums.size() * sizeof(uint64_t);
    for (const auto& part : parts) {
      const Extent& extent = extents_[matrices.size()];
      auto buffer = std::make_unique<MappedBuffer>(file, extent.offset_bytes, extent.size_bytes);
      PAGODA_ASSIGN_OR_RETURN(auto matrix,
                              device.adopt_weight(extent.format, extent.rows, extent.cols, std::move(buffer)));
      matrices.push_back(std::move(matrix));
      PAGODA_RETURN_IF_ERROR(count_bytes(static_cast<int64_t>(part.size())));
    }
  }
  mark_used(path_);
  return matrices;
}

Status WeightCacheFile::check_size(int64_t max_bytes) const {
  if (size_bytes_ <= static_cast<uint64_t>(std::max<int64_t>(max_bytes, 0))) return ok_status();
  return make_error(
      StatusCode::resource_exhausted,
      concat(path_, ": would have ", size_bytes_, " bytes, more than the ", max_bytes, " that the folder may have"));
}

// Without waiting for the disk: read() notices what a crash has lost.
Status WeightCacheFile::write(const std::vector<const device::Weight*>& matrices, device::Device& device,
                              int64_t max_bytes, const std::function<Status()>& go_on) const {
  PAGODA_RETURN_IF_ERROR(check_size(max_bytes));
  trim_cache_folder(folder_, kSuffix, kMagic, max_bytes - static_cast<int64_t>(size_bytes_), path_);
  PAGODA_ASSIGN_OR_RETURN(auto writer, io::FileWriter::create(path_));
  const auto fill_page = [&](size_t size) { return writer->write(std::span(kZeros).first(round_up(size) - size)); };
  PAGODA_RETURN_IF_ERROR(writer->write(std::as_bytes(std::span(head_))));
  PAGODA_RETURN_IF_ERROR(fill_page(head_.size()));
  const auto pool = threads_for_sums();
  std::vector<uint64_t> sums;
  std::vector<std::byte> copied;  // of memory that the host cannot see
  for (size_t i = 0; i < extents_.size(); ++i) {
    const std::span<const std::byte> seen = matrices[i]->bytes();
    if (matrices[i]->size_bytes() != extents_[i].size_bytes || (!seen.empty() && seen.size() != extents_[i].size_bytes))
      return make_error(StatusCode::internal, concat(path_, ": matrix ", i, " is not as large as planned"));
    for (size_t begin = 0; begin < extents_[i].size_bytes; begin += kRoundBytes) {
      const size_t size = std::min(kRoundBytes, extents_[i].size_bytes - begin);
      if (seen.empty()) {
        copied.resize(size);
        PAGODA_RETURN_IF_ERROR(device.read_weight(*matrices[i], begin, copied));
      }
      const std::span<const std::byte> part = seen.empty() ? std::span(copied) : seen.subspan(begin, size);
      PAGODA_RETURN_IF_ERROR(writer->write(part));
      for (const uint64_t sum : sums_of({part}, pool.get())) sums.push_back(sum);
      PAGODA_RETURN_IF_ERROR(go_on());
    }
    PAGODA_RETURN_IF_ERROR(fill_page(extents_[i].size_bytes));
  }
  PAGODA_RETURN_IF_ERROR(writer->write(std::as_bytes(std::span(sums))));
  PAGODA_RETURN_IF_ERROR(fill_page(sums.size() * sizeof(uint64_t)));
  return writer->commit(/*waits_for_disk=*/false);
}

int64_t WeightCacheFile::share_of_disk() const { return cache_folder_space(folder_, kSuffix) / 4; }

}  // namespace pagoda::model
