// SafetensorsWriter: streams a safetensors file whose tensor list is known up front; the data follows in order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "io/file_writer.h"

namespace pagoda::io {

struct PlannedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;

  uint64_t size_bytes() const noexcept;
};

// File size: length field, header, tensor data.
uint64_t safetensors_file_bytes(std::span<const PlannedTensor> tensors);

class SafetensorsWriter {
 public:
  static Result<SafetensorsWriter> create(const std::string& path, std::span<const PlannedTensor> tensors);
  // Appends tensor data, in the order of the plan.
  Status write(std::span<const std::byte> bytes);
  Status commit();  // fails with `internal` unless every planned byte has been written

 private:
  SafetensorsWriter(std::unique_ptr<FileWriter> file, uint64_t missing_bytes)
      : file_(std::move(file)), missing_bytes_(missing_bytes) {}

  std::unique_ptr<FileWriter> file_;
  uint64_t missing_bytes_;
};

}  // namespace pagoda::io
