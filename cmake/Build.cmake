# Warnings, sanitizers and the compiler cache: for our own sources only, never for the sources of a user. No code reads
# errno after a square root, so loops with one can be vectorised.
add_library(priornet_build INTERFACE)
target_compile_options(priornet_build INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-psabi -fno-math-errno
                       $<$<BOOL:${PRIORNET_WERROR}>:-Werror>)
if(PRIORNET_ASAN)
  target_compile_options(priornet_build INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                         -fno-omit-frame-pointer)
  target_link_options(priornet_build INTERFACE -fsanitize=address,undefined)
endif()
if(PRIORNET_FUZZ)
  target_compile_options(priornet_build INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Wno-unknown-warning-option
                         -fno-sanitize=vptr)  # needs types that LibTorch hides
endif()

# Makes a bug harder to exploit: a guard before the return address, checked copies, stacks that grow page by page, jumps only
# to allowed targets; and, at no cost, tables that are read-only once the program runs, and random addresses at each start.
add_library(priornet_hardened INTERFACE)
set(optimised $<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>,$<CONFIG:MinSizeRel>>)
target_compile_options(priornet_hardened INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong -fstack-clash-protection>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,${optimised}>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(priornet_hardened INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fcf-protection=full>)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  target_compile_options(priornet_hardened INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-mbranch-protection=standard>)
endif()
include(CheckPIESupported)
check_pie_supported(OUTPUT_VARIABLE ignored LANGUAGES CXX)
target_link_options(priornet_build INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
if(PRIORNET_HARDENED AND NOT PRIORNET_ASAN AND NOT PRIORNET_FUZZ)
  target_link_libraries(priornet_build INTERFACE priornet_hardened)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # ccache finds a precompiled header only if it ignores its time stamp; it also finds another clone's objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  target_compile_options(priornet_build INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endif()
