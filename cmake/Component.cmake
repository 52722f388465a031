# One precompiled header for the library and the tool: reading LibTorch's headers is most of the work of a build. Clang
# compiles the templates in it once, GCC again with each source: so it holds more for Clang. LibTorch's IValue comes first:
# Clang instantiates vectors of it wherever it meets them.
add_library(priornet_precompiled_headers STATIC ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
target_link_libraries(priornet_precompiled_headers PRIVATE torch ${PRIORNET_FMT} nlohmann_json::nlohmann_json priornet_build)
target_compile_features(priornet_precompiled_headers PUBLIC cxx_std_20)
set_target_properties(priornet_precompiled_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(priornet_precompiled_headers PRIVATE $<$<BOOL:${PRIORNET_CUDA}>:PRIORNET_CUDA>)
target_compile_options(priornet_precompiled_headers PRIVATE -fno-semantic-interposition)
target_precompile_headers(priornet_precompiled_headers PRIVATE
  <ATen/core/ivalue.h> <torch/types.h> <fmt/format.h> <fmt/ranges.h> <filesystem> <functional> <map> <optional>
  $<$<CXX_COMPILER_ID:Clang>:<nlohmann/json.hpp$<ANGLE-R>>
  $<$<CXX_COMPILER_ID:Clang>:<torch/nn/module.h$<ANGLE-R>>
  $<$<CXX_COMPILER_ID:Clang>:<torch/utils.h$<ANGLE-R>>)
function(priornet_precompiled target)
  # The library also goes into shared libraries: plugins, Python modules. No other library may replace its functions there.
  target_compile_options(${target} PRIVATE -fno-semantic-interposition -Winvalid-pch)
  # A precompiled header can only be used by sources with the same macros.
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${PRIORNET_FMT}> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")  # the header was made with -fPIC, and cannot be used with -fPIE
    target_compile_options(${target} PRIVATE -fPIC)
    target_link_options(${target} PRIVATE -pie)
  else()
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_precompile_headers(${target} REUSE_FROM priornet_precompiled_headers)
endfunction()

# priornet_component(NAME [DEPENDS component...]): the static library priornet::NAME, whose public headers are those of
# include/priornet/NAME and whose private ones lie beside the sources. A component is also what `cmake --install --component`
# and find_package(priornet COMPONENTS ...) know it by (cmake/Install.cmake).
function(priornet_component name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  set(target priornet_${name})
  add_library(${target} STATIC)
  add_library(priornet::${name} ALIAS ${target})
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # The C++ library comes before LibTorch, whose binary releases export a std::filesystem of another version.
  target_link_libraries(${target} PUBLIC stdc++ torch PRIVATE gomp $<BUILD_INTERFACE:priornet_build>)
  foreach(component IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC priornet_${component})
  endforeach()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  priornet_precompiled(${target})
endfunction()

# priornet_cuda(COMPONENT file...): own kernels take raw pointers and a stream, so they compile without LibTorch.
function(priornet_cuda component)
  if(NOT PRIORNET_CUDA)
    return()
  endif()
  enable_language(CUDA)
  set(target priornet_${component}_cuda)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE --extended-lambda --expt-relaxed-constexpr)
  target_sources(priornet_${component} PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

# priornet_vectorised(COMPONENT file): compiles a kernel once for each instruction set; which one runs is chosen at run
# time. Nothing wider than the file itself may depend on these flags.
function(priornet_vectorised component file)
  get_filename_component(name ${file} NAME_WE)
  set(sets portable)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND sets avx2 avx512)
  endif()
  set(lanes_portable 2)
  set(lanes_avx2 4)
  set(lanes_avx512 8)
  set(flags_avx2 -mavx2 -mfma)
  set(flags_avx512 -mavx512f -mavx512dq -mfma -mprefer-vector-width=512)
  foreach(set IN LISTS sets)
    set(target priornet_${name}_${set})
    add_library(${target} OBJECT ${file})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(${target} PRIVATE PRIORNET_LANES=${lanes_${set}})
    # Left alone, Clang reads a polynomial's coefficients in pairs from a copy that it has just written to the stack, which
    # takes 2.5 times as long with two lanes; and it calls the parts of a row's mathematics as functions, with vectors in
    # memory, which takes 3 to 8 % longer with eight.
    target_compile_options(${target} PRIVATE -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math ${flags_${set}}
      $<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -disable-vector-combine -mllvm -inline-threshold=2000>)
    target_link_libraries(${target} PRIVATE priornet_build)
    target_sources(priornet_${component} PRIVATE $<TARGET_OBJECTS:${target}>)
  endforeach()
endfunction()
