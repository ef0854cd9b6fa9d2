// WebP files through libwebp: lossy and lossless images; animations are refused.
#include "decoders.h"

#if !defined(__APPLE__)
#if __has_include(<webp/decode.h>)

#include <webp/decode.h>

#include <cstring>
#include <vector>

#include "exif.h"

namespace pagoda::images {
namespace {

constexpr size_t kRiffHeaderBytes = 12, kChunkHeaderBytes = 8;

// A file is a list of chunks: four letters, the size in little-endian order, and that many bytes, padded to an even
// number.
int32_t webp_orientation(Bytes file) noexcept {
  size_t offset = kRiffHeaderBytes;
  while (offset < file.size() && file.size() - offset >= kChunkHeaderBytes) {
    const uint8_t* chunk = file.data() + offset;
    const size_t num_bytes = chunk[4] | size_t{chunk[5]} << 8 | size_t{chunk[6]} << 16 | size_t{chunk[7]} << 24;
    offset += kChunkHeaderBytes;
    if (num_bytes > file.size() - offset) return 1;
    if (std::memcmp(chunk, "EXIF", 4) == 0) return exif_orientation(file.subspan(offset, num_bytes));
    offset += num_bytes + num_bytes % 2;
  }
  return 1;
}

}  // namespace

ImageHeader read_webp_header(Bytes file) {
  WebPBitstreamFeatures features;
  const VP8StatusCode code = WebPGetFeatures(file.data(), file.size(), &features);
  if (code == VP8_STATUS_NOT_ENOUGH_DATA) return refused_header(refused("the WebP file is damaged: it is truncated"));
  if (code != VP8_STATUS_OK) return refused_header(refused("the WebP file is damaged: its header is invalid"));
  if (features.has_animation != 0)
    return refused_header(refused("the WebP file is an animation; only single images can be read"));
  ImageHeader header;
  header.format = "WebP";
  header.width = features.width;
  header.height = features.height;
  header.orientation = webp_orientation(file);
  return header;
}

Status decode_webp(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb) {
  WebPBitstreamFeatures features;
  const Status damaged = refused("the WebP file is damaged: its pixels cannot be decoded, or it is truncated");
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) return damaged;
  const size_t num_pixels = static_cast<size_t>(header.width) * static_cast<size_t>(header.height);
  if (features.has_alpha == 0) {
    const uint8_t* done = WebPDecodeRGBInto(file.data(), file.size(), rgb.data(), rgb.size(), header.width * 3);
    return done != nullptr ? ok_status() : damaged;
  }
  std::vector<uint8_t> rgba(num_pixels * 4);
  if (WebPDecodeRGBAInto(file.data(), file.size(), rgba.data(), rgba.size(), header.width * 4) == nullptr)
    return damaged;
  put_on_white(rgba.data(), num_pixels, rgb.data());
  return ok_status();
}

}  // namespace pagoda::images

#else

namespace pagoda::images {

ImageHeader read_webp_header(Bytes) { return refused_header(refused("this program was built without libwebp")); }
Status decode_webp(Bytes, const ImageHeader&, std::span<uint8_t>) {
  return refused("this program was built without libwebp");
}

}  // namespace pagoda::images

#endif
#endif
