// Image files: limits, headers and pixels. The decoders themselves are a target of their own (Sources/ImageDecoders),
// which adds itself to the programs that it is linked into.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pagoda/image.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {

// Checked before any pixel is decoded or any memory taken for it.
struct ImageLimits {
  int64_t max_bytes = int64_t{32} << 20;   // of the file
  int64_t max_pixels = int64_t{64} << 20;  // width * height: 192 MB of pixels
};

struct ImageHeader {
  Status status;
  int32_t width = 0, height = 0;  // in pixels; after rotation in the results of read_image_header()
  int32_t orientation = 1;        // 1 to 8 as in EXIF
  std::string format;             // PNG, JPEG or WebP
};

struct ImagePixels {
  Status status;
  int32_t width = 0, height = 0;
  std::vector<uint8_t> rgb;  // [height][width][3]
};

// What reads files. Both functions may be called from several threads at once.
struct ImageDecoder {
  // The size as the file states it, without decoding pixels.
  ImageHeader (*PAGODA_NULLABLE read_header)(std::span<const uint8_t> file) = nullptr;
  // Fills rgb [height][width][3] of that size: 8 bits, transparent pixels on white, not rotated.
  Status (*PAGODA_NULLABLE decode)(std::span<const uint8_t> file, const ImageHeader& header,
                                   std::span<uint8_t> rgb) = nullptr;
};

bool has_image_decoder() noexcept;

// Width and height as a viewer shows them: the file's EXIF orientation is applied.
ImageHeader read_image_header(const uint8_t* PAGODA_NONNULL file, int64_t num_bytes,
                              const ImageLimits& limits) noexcept;

ImagePixels decode_image(const uint8_t* PAGODA_NONNULL file, int64_t num_bytes, const ImageLimits& limits) noexcept;

// decode_image(), then prepare_image().
PreparedImageResult prepare_image_file(const uint8_t* PAGODA_NONNULL file, int64_t num_bytes, const ImageLimits& limits,
                                       const ImageOptions& options) noexcept;

}  // namespace pagoda

// Called while the program starts, before main().
extern "C" void pagoda_set_image_decoder(const pagoda::ImageDecoder* PAGODA_NONNULL decoder) noexcept;
