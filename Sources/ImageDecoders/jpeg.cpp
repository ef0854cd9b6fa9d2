// JPEG files through libjpeg-turbo: gray, YCbCr, RGB and CMYK become 8-bit RGB.
#include "decoders.h"

#if !defined(__APPLE__)
#if __has_include(<jpeglib.h>)

#include <algorithm>
#include <csetjmp>
#include <cstdio>  // jpeglib.h uses FILE without including it
#include <cstring>
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

#include "exif.h"

namespace pagoda::images {
namespace {

constexpr int kMaxScans = 100;  // a progressive file has about ten; each costs a pass over the whole image
constexpr int kExifMarker = JPEG_APP0 + 1;

struct JpegState {
  jpeg_error_mgr errors = {};  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump = {};
  char message[JMSG_LENGTH_MAX] = {};
};

[[noreturn]] void fail_jpeg(j_common_ptr info, const char* text) {
  auto* state = reinterpret_cast<JpegState*>(info->err);
  std::strncpy(state->message, text, sizeof state->message - 1);
  std::longjmp(state->jump, 1);
}

[[noreturn]] void on_jpeg_error(j_common_ptr info) {
  char text[JMSG_LENGTH_MAX] = {};
  (*info->err->format_message)(info, text);
  fail_jpeg(info, text);
}

// libjpeg fills a truncated file with gray and only warns; a reader would take that for the picture.
void on_jpeg_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) fail_jpeg(info, "the file is truncated");
}

void on_jpeg_progress(j_common_ptr info) {
  if (info->is_decompressor && reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans)
    fail_jpeg(info, "it has too many scans");
}

// Owns libjpeg's structures. The functions that call setjmp have no local objects with destructors.
class JpegFile {
 public:
  JpegFile() {
    info_.err = jpeg_std_error(&state_.errors);
    state_.errors.error_exit = &on_jpeg_error;
    state_.errors.emit_message = &on_jpeg_message;
    progress_.progress_monitor = &on_jpeg_progress;
  }
  JpegFile(const JpegFile&) = delete;
  JpegFile& operator=(const JpegFile&) = delete;
  ~JpegFile() { jpeg_destroy_decompress(&info_); }

  const jpeg_decompress_struct& info() const { return info_; }
  const char* message() const { return state_.message[0] != 0 ? state_.message : "its size is inconsistent"; }
  bool is_cmyk() const { return info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK; }
  bool read_info(Bytes file);
  int32_t orientation() const;
  // `row` is room for one row of CMYK pixels, and unused for others.
  bool read_rows(uint8_t* rgb, uint8_t* row);

 private:
  jpeg_decompress_struct info_ = {};
  jpeg_progress_mgr progress_ = {};
  JpegState state_;
};

bool JpegFile::read_info(Bytes file) {
  if (setjmp(state_.jump) != 0) return false;
  jpeg_create_decompress(&info_);
  info_.progress = &progress_;
  jpeg_save_markers(&info_, kExifMarker, 0xffff);
  jpeg_mem_src(&info_, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&info_, TRUE);
  return true;
}

int32_t JpegFile::orientation() const {
  for (const jpeg_marker_struct* marker = info_.marker_list; marker != nullptr; marker = marker->next) {
    const Bytes block(marker->data, marker->data_length);
    if (marker->marker == kExifMarker && block.size() > 6 && std::memcmp(block.data(), "Exif\0\0", 6) == 0)
      return exif_orientation(block);
  }
  return 1;
}

// Adobe's files, which all others follow, store inverted values.
void cmyk_to_rgb(const uint8_t* cmyk, size_t num_pixels, uint8_t* rgb) noexcept {
  for (size_t i = 0; i < num_pixels; ++i, cmyk += 4, rgb += 3) {
    const uint32_t light = cmyk[3];
    for (int channel = 0; channel < 3; ++channel)
      rgb[channel] = static_cast<uint8_t>(light - divided_by_255((255u - cmyk[channel]) * light));
  }
}

bool JpegFile::read_rows(uint8_t* rgb, uint8_t* row) {
  if (setjmp(state_.jump) != 0) return false;
  info_.out_color_space = is_cmyk() ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info_);
  if (info_.output_width != info_.image_width || info_.output_height != info_.image_height) return false;
  while (info_.output_scanline < info_.output_height) {
    uint8_t* out = rgb + static_cast<size_t>(info_.output_scanline) * info_.output_width * 3;
    uint8_t* target = is_cmyk() ? row : out;
    jpeg_read_scanlines(&info_, &target, 1);
    if (is_cmyk()) cmyk_to_rgb(row, info_.output_width, out);
  }
  jpeg_finish_decompress(&info_);
  return true;
}

Status jpeg_refused(const JpegFile& file) {
  return refused(std::string("the JPEG file is damaged: ") + file.message());
}

}  // namespace

ImageHeader read_jpeg_header(Bytes file) {
  JpegFile jpeg;
  if (!jpeg.read_info(file)) return refused_header(jpeg_refused(jpeg));
  ImageHeader header;
  header.format = "JPEG";
  header.width = static_cast<int32_t>(jpeg.info().image_width);
  header.height = static_cast<int32_t>(jpeg.info().image_height);
  header.orientation = jpeg.orientation();
  return header;
}

Status decode_jpeg(Bytes file, const ImageHeader&, std::span<uint8_t> rgb) {
  JpegFile jpeg;
  if (!jpeg.read_info(file)) return jpeg_refused(jpeg);
  if (rgb.size() != size_t{3} * jpeg.info().image_width * jpeg.info().image_height) return jpeg_refused(jpeg);
  std::vector<uint8_t> row(jpeg.is_cmyk() ? size_t{4} * jpeg.info().image_width : 0);
  return jpeg.read_rows(rgb.data(), row.data()) ? ok_status() : jpeg_refused(jpeg);
}

}  // namespace pagoda::images

#else

namespace pagoda::images {

ImageHeader read_jpeg_header(Bytes) { return refused_header(refused("this program was built without libjpeg")); }
Status decode_jpeg(Bytes, const ImageHeader&, std::span<uint8_t>) {
  return refused("this program was built without libjpeg");
}

}  // namespace pagoda::images

#endif
#endif
