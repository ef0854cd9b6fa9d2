// RowPacker: reads rows of a weight and writes them in the layout of GpuWeight. Rows are independent of each other, so
// that any number of threads give the same bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.h"
#include "device/gpu/weights/gpu_weight.h"

namespace pagoda::device::gpu {

// Where consecutive rows go: the three parts of a GpuWeight, of which some may be empty.
struct RowPlace {
  std::byte *rows, *steps, *scales;
  RowPlace after(int64_t count, const WeightLayout& layout) const noexcept {
    return {rows + count * layout.row_bytes, steps + count * layout.step_bytes, scales + count * layout.scale_bytes};
  }
};

class RowPacker {
 public:
  struct Scratch {  // of one thread
    std::vector<std::byte> source;
    std::vector<float> row;
    std::vector<uint8_t> nibbles;
  };

  RowPacker(const WeightSource& source, WeightFormat format, const WeightLayout& layout) noexcept
      : source_(source), format_(format), layout_(layout) {}
  int64_t source_row_bytes() const noexcept {
    return pagoda::is_stored(format_) ? static_cast<int64_t>(stored_row_bytes(quant_format(format_), source_.cols))
                                      : source_.cols * static_cast<int64_t>(dtype_bytes(source_.dtype));
  }
  // Rows [begin, begin + count). A finite number that the format cannot represent is an error.
  Status pack(int64_t begin, int64_t count, Scratch& scratch, RowPlace to) const;

 private:
  bool is_copied() const noexcept;
  Status copy(int64_t begin, int64_t count, Scratch& scratch, std::byte* to) const;
  Status arrange(int64_t begin, int64_t count, Scratch& scratch, const RowPlace& to) const;
  bool pack_row(Scratch& scratch, const RowPlace& to) const;

  const WeightSource& source_;
  WeightFormat format_;
  const WeightLayout& layout_;
};

}  // namespace pagoda::device::gpu
