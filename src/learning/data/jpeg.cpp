#include <cstdio>  // before jpeglib.h, which needs it

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "learning/data/decoded_pixels.h"

// libjpeg leaves a failed call by longjmp. The setjmp stands in a function of its own (attempt) that owns nothing, and
// neither does any function that is jumped over: objects with destructors live in the caller.

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

// A fault after which libjpeg would invent pixels is an error for us; a fault that harms no pixel is not.
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

// A progressive image may hold any number of passes over all pixels, a few bytes each, which slow decoding down.
// Encoders make about ten.
void limit_passes(j_common_ptr jpeg) {
  constexpr int64_t kMostPasses = 200;
  constexpr int64_t kAlwaysTaken = 16;
  constexpr int64_t kMostWork = int64_t{1} << 30;  // pixels times passes: a few seconds
  const auto& image = *reinterpret_cast<j_decompress_ptr>(jpeg);
  const auto pixels = std::max<int64_t>(1, int64_t{image.image_height} * image.image_width);
  const auto most = std::clamp(kMostWork / pixels, kAlwaysTaken, kMostPasses);
  if (image.input_scan_number <= most) return;
  std::snprintf(failure_of(jpeg).reason, sizeof failure_of(jpeg).reason, "more than %d passes", static_cast<int>(most));
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

// Whether work(reader, arguments...) finished.
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

void start(JpegReader& reader) { jpeg_start_decompress(&reader.jpeg); }
void read_row(JpegReader& reader, JSAMPROW to) { jpeg_read_scanlines(&reader.jpeg, &to, 1); }
void finish(JpegReader& reader) { jpeg_finish_decompress(&reader.jpeg); }

// Adobe stores inks inverted, and no other program stores inks: value = 255 - ink. Computed as in Pillow, in place.
void rgb_of_inks(uint8_t* row, int64_t width) {
  for (int64_t x = 0; x < width; ++x) {
    const unsigned light = row[4 * x + 3];
    for (int64_t c = 0; c < 3; ++c) {
      const unsigned product = (255U - row[4 * x + c]) * light + 128;
      row[3 * x + c] = static_cast<uint8_t>(light - (((product >> 8) + product) >> 8));
    }
  }
}

// An image whose header is read.
class OpenJpeg {
 public:
  OpenJpeg(std::string_view bytes, const std::string& name) : name_(name) {
    require(attempt(reader_, read_header, bytes.data(), bytes.size()));
    check_image_size(name, jpeg().image_height, jpeg().image_width, static_cast<int64_t>(bytes.size()));
    const auto components = jpeg().num_components;
    if (components != 1 && components != 3 && components != 4)
      throw DataError(fmt::format("{}: a JPEG of {} components; grey, RGB and CMYK are read", name, components));
  }

  jpeg_decompress_struct& jpeg() { return reader_.jpeg; }

  void read(const WantedSize& wanted, PixelRows& rows) {
    const auto components = jpeg().num_components;
    jpeg().out_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg().scale_num = 1;
    jpeg().scale_denom = static_cast<unsigned>(wanted.divisor(jpeg().image_height, jpeg().image_width));
    require(attempt(reader_, start));
    const auto width = static_cast<int64_t>(jpeg().output_width);
    rows.begin(jpeg().output_height, width, components == 1 ? 1 : 3);
    std::vector<uint8_t> row(static_cast<size_t>(width * components));
    while (jpeg().output_scanline < jpeg().output_height) {
      require(attempt(reader_, read_row, row.data()));
      if (components == 4) rgb_of_inks(row.data(), width);
      rows.take(row.data());
    }
    require(attempt(reader_, finish));
  }

 private:
  void require(bool worked) {
    if (!worked) throw DataError(fmt::format("{}: does not decode as JPEG: {}", name_, reader_.failure.reason));
  }

  const std::string& name_;
  JpegReader reader_;
};

}  // namespace

ImageFacts jpeg_facts(std::string_view bytes, const std::string& name) {
  OpenJpeg image(bytes, name);
  auto& jpeg = image.jpeg();
  ImageFacts facts{jpeg.image_height, jpeg.image_width, 0};
  if (!jpeg_has_multiple_scans(&jpeg)) return facts;
  // The coefficients of all passes, 2 bytes each, as the components are sampled.
  int64_t samples = 0;
  for (int i = 0; i < jpeg.num_components; ++i)
    samples += int64_t{jpeg.comp_info[i].h_samp_factor} * jpeg.comp_info[i].v_samp_factor;
  const auto area = int64_t{jpeg.max_h_samp_factor} * jpeg.max_v_samp_factor;
  facts.decoder_bytes = 2 * facts.height * facts.width * samples / std::max<int64_t>(area, 1);
  return facts;
}

void read_jpeg(std::string_view bytes, const std::string& name, const WantedSize& wanted, PixelRows& rows) {
  OpenJpeg(bytes, name).read(wanted, rows);
}

}  // namespace priornet
