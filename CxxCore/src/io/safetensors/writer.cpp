// Pads the header with spaces to a multiple of 8 bytes, so that tensor data is aligned.
#include "io/safetensors/writer.h"

#include "base/assign_or_return.h"
#include "base/json_writer.h"
#include "io/safetensors/safetensors.h"

namespace pagoda::io {
namespace {

Json header_entry(const PlannedTensor& tensor, uint64_t begin) {
  std::vector<Json> shape;
  for (const int64_t size : tensor.shape) shape.push_back(Json::make_integer(size));
  const int64_t end = static_cast<int64_t>(begin + tensor.size_bytes());
  return Json::make_object(
      {{"dtype", Json::make_string(std::string(safetensors_dtype_name(tensor.dtype)))},
       {"shape", Json::make_array(std::move(shape))},
       {"data_offsets", Json::make_array({Json::make_integer(static_cast<int64_t>(begin)), Json::make_integer(end)})}});
}

std::string header_bytes(std::span<const PlannedTensor> tensors) {
  std::vector<JsonMember> members;
  members.emplace_back("__metadata__", Json::make_object({{"format", Json::make_string("pt")}}));
  uint64_t begin = 0;
  for (const PlannedTensor& tensor : tensors) {
    members.emplace_back(tensor.name, header_entry(tensor, begin));
    begin += tensor.size_bytes();
  }
  std::string json;
  append_json(Json::make_object(std::move(members)), json);
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(static_cast<uint64_t>(json.size()) >> (8 * i));
  return bytes + json;
}

uint64_t tensor_bytes(std::span<const PlannedTensor> tensors) {
  uint64_t sum = 0;
  for (const PlannedTensor& tensor : tensors) sum += tensor.size_bytes();
  return sum;
}

}  // namespace

uint64_t PlannedTensor::size_bytes() const noexcept {
  uint64_t size = dtype_bytes(dtype);
  for (const int64_t extent : shape) size *= static_cast<uint64_t>(extent);
  return size;
}

uint64_t safetensors_file_bytes(std::span<const PlannedTensor> tensors) {
  return header_bytes(tensors).size() + tensor_bytes(tensors);
}

Result<SafetensorsWriter> SafetensorsWriter::create(const std::string& path, std::span<const PlannedTensor> tensors) {
  PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> file, FileWriter::create(path));
  const std::string header = header_bytes(tensors);
  PAGODA_RETURN_IF_ERROR(file->write(std::as_bytes(std::span(header))));
  return SafetensorsWriter(std::move(file), tensor_bytes(tensors));
}

Status SafetensorsWriter::write(std::span<const std::byte> bytes) {
  if (bytes.size() > missing_bytes_) return make_error(StatusCode::internal, "more tensor bytes than planned");
  missing_bytes_ -= bytes.size();
  return file_->write(bytes);
}

Status SafetensorsWriter::commit() {
  if (missing_bytes_ != 0) return make_error(StatusCode::internal, "fewer tensor bytes than planned");
  return file_->commit();
}

}  // namespace pagoda::io
