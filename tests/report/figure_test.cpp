#include "tool/report/figure.h"
#include <priornet/uncertainty/errors.h>
#include <stdlib.h>
#include <testing/pictures.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

namespace priornet {
namespace {

Figure line() {
  Figure figure;
  figure.width = 320;
  figure.height = 200;
  figure.files = {{"line.txt", "0 0\n1 1\n"}};
  figure.script = "set title 'A title' font ',15'\nplot 'line.txt' with lines notitle\n";
  return figure;
}

TEST(Figure, RendersInBothFormats) { expect_renders(line()); }

TEST(Figure, KeepsTextAsTextInSvg) {
  if (!can_render()) GTEST_SKIP() << kNoGnuplot;
  EXPECT_NE(render(line(), FigureFormat::kSvg).find("A title"), std::string::npos);
}

TEST(Figure, SaysWhatGnuplotSaid) {
  if (!can_render()) GTEST_SKIP() << kNoGnuplot;
  auto figure = line();
  figure.script = "plott 1\n";
  try {
    render(figure, FigureFormat::kSvg);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("gnuplot failed: \"plot.gp\""), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("invalid command"), std::string::npos) << error.what();
  }
}

TEST(FigureWithoutGnuplot, SaysWhatToInstall) {
  const TemporaryFolder empty;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (empty / "").c_str(), 1);
  EXPECT_FALSE(can_render());
  EXPECT_THROWS(DataError, render(line(), FigureFormat::kSvg), "figures need gnuplot: apt install gnuplot-nox");
  ::setenv("PATH", path.c_str(), 1);
}

TEST(GnuplotString, CannotBeLeft) {
  EXPECT_EQ(gnuplot_string("it's"), "'it''s'");
  EXPECT_EQ(gnuplot_string("a\nb"), "'a b'");
}

}  // namespace
}  // namespace priornet
