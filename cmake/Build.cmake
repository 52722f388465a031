# Warnings, sanitizers and the compiler cache: for our own sources only, never for a consumer's.
add_library(priornet_build INTERFACE)
target_compile_options(priornet_build INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-psabi
                       $<$<BOOL:${PRIORNET_WERROR}>:-Werror>)
if(PRIORNET_ASAN)
  target_compile_options(priornet_build INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                         -fno-omit-frame-pointer)
  target_link_options(priornet_build INTERFACE -fsanitize=address,undefined)
endif()
if(PRIORNET_FUZZ)
  target_compile_options(priornet_build INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Wno-unknown-warning-option)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # A precompiled header is a hit only if ccache overlooks its time stamp; another clone's objects are hits too.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
