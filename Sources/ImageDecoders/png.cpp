// PNG files through libpng: any depth and colour type becomes 8-bit RGB.
#include "decoders.h"

#if !defined(__APPLE__)
#if __has_include(<png.h>)

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "exif.h"

namespace pagoda::images {
namespace {

constexpr png_uint_32 kMaxPngSide = 1 << 20;
constexpr png_alloc_size_t kMaxChunkBytes = 8 << 20;  // of compressed text and colour profiles, which are not used

struct PngState {
  Bytes rest;
  char message[128] = {};
};

PngState& state_of(png_structp png) { return *static_cast<PngState*>(png_get_error_ptr(png)); }

[[noreturn]] void on_png_error(png_structp png, png_const_charp text) {
  std::strncpy(state_of(png).message, text, sizeof(PngState::message) - 1);
  png_longjmp(png, 1);
}

void on_png_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep out, size_t count) {
  Bytes& rest = static_cast<PngState*>(png_get_io_ptr(png))->rest;
  if (count > rest.size()) png_error(png, "the file is truncated");
  std::copy_n(rest.data(), count, out);
  rest = rest.subspan(count);
}

// Owns libpng's structures. The functions that call setjmp have no local objects with destructors.
class PngFile {
 public:
  explicit PngFile(Bytes file) {
    state_.rest = file;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, &on_png_error, &on_png_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;
  ~PngFile() { png_destroy_read_struct(&png_, &info_, nullptr); }

  const char* message() const { return state_.message[0] != 0 ? state_.message : "out of memory"; }
  bool read_info();
  int32_t width() const { return static_cast<int32_t>(png_get_image_width(png_, info_)); }
  int32_t height() const { return static_cast<int32_t>(png_get_image_height(png_, info_)); }
  int32_t orientation();
  // Decides the form of rows; after read_info(). The number of channels: 3, or 4 with alpha. 0 is an error.
  int start();
  bool read_rows(uint8_t* out, size_t row_bytes, int32_t num_rows);

 private:
  PngState state_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int num_passes_ = 1;
};

bool PngFile::read_info() {
  if (png_ == nullptr || info_ == nullptr) return false;
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  png_set_read_fn(png_, &state_, &read_png_bytes);
  png_set_user_limits(png_, kMaxPngSide, kMaxPngSide);
  png_set_chunk_malloc_max(png_, kMaxChunkBytes);
  png_read_info(png_, info_);
  return true;
}

int32_t PngFile::orientation() {
  png_uint_32 num_bytes = 0;
  png_bytep block = nullptr;
  if (png_get_eXIf_1(png_, info_, &num_bytes, &block) == 0 || block == nullptr) return 1;
  return exif_orientation({block, num_bytes});
}

int PngFile::start() {
  if (setjmp(png_jmpbuf(png_)) != 0) return 0;
  png_set_expand(png_);    // palettes, fewer than 8 bits, a transparent colour
  png_set_strip_16(png_);  // the high byte, as Pillow takes it
  png_set_gray_to_rgb(png_);
  num_passes_ = png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  return png_get_channels(png_, info_);
}

bool PngFile::read_rows(uint8_t* out, size_t row_bytes, int32_t num_rows) {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  if (png_get_rowbytes(png_, info_) != row_bytes) return false;
  for (int pass = 0; pass < num_passes_; ++pass) {
    for (int32_t row = 0; row < num_rows; ++row)
      png_read_row(png_, out + static_cast<size_t>(row) * row_bytes, nullptr);
  }
  return true;
}

Status png_refused(const PngFile& file) { return refused(std::string("the PNG file is damaged: ") + file.message()); }

}  // namespace

ImageHeader read_png_header(Bytes file) {
  PngFile png(file);
  if (!png.read_info()) return refused_header(png_refused(png));
  ImageHeader header;
  header.format = "PNG";
  header.width = png.width();
  header.height = png.height();
  header.orientation = png.orientation();
  return header;
}

Status decode_png(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb) {
  PngFile png(file);
  if (!png.read_info() || png.width() != header.width || png.height() != header.height) return png_refused(png);
  const int num_channels = png.start();
  if (num_channels != 3 && num_channels != 4) return png_refused(png);
  const size_t width = static_cast<size_t>(header.width), num_pixels = width * static_cast<size_t>(header.height);
  if (num_channels == 3) return png.read_rows(rgb.data(), width * 3, header.height) ? ok_status() : png_refused(png);
  std::vector<uint8_t> rgba(num_pixels * 4);
  if (!png.read_rows(rgba.data(), width * 4, header.height)) return png_refused(png);
  put_on_white(rgba.data(), num_pixels, rgb.data());
  return ok_status();
}

}  // namespace pagoda::images

#else

namespace pagoda::images {

ImageHeader read_png_header(Bytes) { return refused_header(refused("this program was built without libpng")); }
Status decode_png(Bytes, const ImageHeader&, std::span<uint8_t>) {
  return refused("this program was built without libpng");
}

}  // namespace pagoda::images

#endif
#endif
