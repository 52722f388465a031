#include <priornet/core/errors.h>

#include <cstdio>
#include <exception>

#include "command.h"

int main(int argc, char** argv) {
  CLI::App tool("priornet tells how sure a classifier is and why.", "priornet");
  tool.require_subcommand(1);
  priornet::tool::add_reproduce(tool);
  try {
    tool.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return tool.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "priornet: %s\n", error.what());
    return 1;
  }
}
