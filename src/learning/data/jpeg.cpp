#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>
#include <priornet/uncertainty/errors.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "learning/data/decoded_pixels.h"

// After <cstdio>, which jpeglib.h needs.
//

// libjpeg leaves a failed call by longjmp. The setjmp stands in a function of its own (attempt) that owns nothing, and
// so does all that is jumped over: what has a destructor lives in the caller.

namespace priornet {
namespace {

struct Failure {
  jpeg_error_mgr manager{};  // first: libjpeg hands back its address
  std::jmp_buf jump{};
  char reason[JMSG_LENGTH_MAX] = "";
};

Failure& failure_of(j_common_ptr jpeg) { return *reinterpret_cast<Failure*>(jpeg->err); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto& failure = failure_of(jpeg);
  jpeg->err->format_message(jpeg, failure.reason);
  std::longjmp(failure.jump, 1);
}

// What libjpeg goes on from with made-up pixels is an error to us; what harms no pixel is not.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_TOO_MUCH_DATA:
      return;
    default:
      on_error(jpeg);
  }
}

// A progressive image may hold any number of passes over all pixels: a few bytes each, and no honest use.
void limit_passes(j_common_ptr jpeg) {
  constexpr int kMostPasses = 200;
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostPasses) return;
  std::strcpy(failure_of(jpeg).reason, "more than 200 passes");
  std::longjmp(failure_of(jpeg).jump, 1);
}

struct JpegReader {
  JpegReader() {
    jpeg.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = on_error;
    failure.manager.emit_message = on_message;
    progress.progress_monitor = limit_passes;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Failure failure;
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct jpeg{};
};

// Whether work(reader, arguments...) came to its end.
template <class... Arguments>
bool attempt(JpegReader& reader, void (*work)(JpegReader&, Arguments...), Arguments... arguments) {
  if (setjmp(reader.failure.jump) != 0) return false;
  work(reader, arguments...);
  return true;
}

void read_header(JpegReader& reader, const char* bytes, size_t size) {
  jpeg_create_decompress(&reader.jpeg);
  reader.jpeg.progress = &reader.progress;
  jpeg_mem_src(&reader.jpeg, reinterpret_cast<const unsigned char*>(bytes), size);
  jpeg_read_header(&reader.jpeg, TRUE);
}

void read_rows(JpegReader& reader, uint8_t* to) {
  auto& jpeg = reader.jpeg;
  jpeg_start_decompress(&jpeg);
  const auto row_bytes = static_cast<size_t>(jpeg.output_width) * static_cast<size_t>(jpeg.output_components);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = to + jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
}

// Adobe stores inks inverted, and nobody else stores any: value = 255 - ink. As Pillow computes it.
std::vector<uint8_t> rgb_of_inks(const std::vector<uint8_t>& inks) {
  std::vector<uint8_t> rgb(inks.size() / 4 * 3);
  for (size_t i = 0; i < inks.size() / 4; ++i) {
    const unsigned light = inks[4 * i + 3];
    for (size_t c = 0; c < 3; ++c) {
      const unsigned product = (255U - inks[4 * i + c]) * light + 128;
      rgb[3 * i + c] = static_cast<uint8_t>(light - (((product >> 8) + product) >> 8));
    }
  }
  return rgb;
}

}  // namespace

Pixels decode_jpeg(std::string_view bytes, const std::string& name) {
  JpegReader reader;
  auto& jpeg = reader.jpeg;
  const auto require = [&](bool worked) {
    if (!worked) throw DataError(fmt::format("{}: does not decode as JPEG: {}", name, reader.failure.reason));
  };
  require(attempt(reader, read_header, bytes.data(), bytes.size()));
  Pixels pixels{jpeg.image_height, jpeg.image_width, jpeg.num_components, {}};
  check_image_size(name, pixels.height, pixels.width, static_cast<int64_t>(bytes.size()));
  if (pixels.channels != 1 && pixels.channels != 3 && pixels.channels != 4)
    throw DataError(fmt::format("{}: a JPEG of {} components; grey, RGB and CMYK are read", name, pixels.channels));
  jpeg.out_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : pixels.channels == 3 ? JCS_RGB : JCS_CMYK;
  pixels.values.resize(static_cast<size_t>(pixels.height * pixels.width * pixels.channels));
  require(attempt(reader, read_rows, pixels.values.data()));
  if (pixels.channels == 4) {
    pixels.values = rgb_of_inks(pixels.values);
    pixels.channels = 3;
  }
  return pixels;
}

}  // namespace priornet
