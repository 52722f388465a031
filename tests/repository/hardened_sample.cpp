#include <cstdio>
#include <cstring>

// Gives the compiler something to protect: an array on the stack that a copy may overrun, a frame of several pages.

[[gnu::noinline]] static int last_of(const char* text, size_t size) {
  char copy[16];
  std::memcpy(copy, text, size);
  return copy[size - 1];
}

[[gnu::noinline]] static int deep(const char* text) {
  char pages[3 * 65536];
  return std::snprintf(pages, sizeof pages, "%s", text) + pages[0];
}

int main(int count, char** arguments) {
  const char* text = arguments[0];
  std::printf("%d %d\n", last_of(text, static_cast<size_t>(count)), deep(text));
  return 0;
}
