# The libraries of the readers and of the download, as targets; each is found, not required. Installed beside
# priornetConfig.cmake: a consumer of the static library links what it was built with.
find_package(LibArchive QUIET)
find_package(PNG QUIET)
find_package(JPEG QUIET)
find_package(TIFF QUIET)
find_package(CURL QUIET)
find_package(OpenSSL QUIET)

# Libraries without a CMake module: a header and a library.
function(priornet_find_plain name header library)
  if(TARGET priornet_reader::${name})
    return()
  endif()
  find_path(PRIORNET_${name}_INCLUDE ${header})
  find_library(PRIORNET_${name}_LIBRARY ${library})
  mark_as_advanced(PRIORNET_${name}_INCLUDE PRIORNET_${name}_LIBRARY)
  if(PRIORNET_${name}_INCLUDE AND PRIORNET_${name}_LIBRARY)
    add_library(priornet_reader::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(priornet_reader::${name} PROPERTIES
      IMPORTED_LOCATION ${PRIORNET_${name}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${PRIORNET_${name}_INCLUDE})
  endif()
endfunction()
priornet_find_plain(webp webp/decode.h webp)
priornet_find_plain(gif gif_lib.h gif)
priornet_find_plain(heif libheif/heif.h heif)
priornet_find_plain(lmdb lmdb.h lmdb)
# oneDNN 2 computes networks on CPUs; the interface of version 3 is another.
find_path(PRIORNET_onednn_INCLUDE oneapi/dnnl/dnnl_version.h)
mark_as_advanced(PRIORNET_onednn_INCLUDE)
set(onednn_version "")
if(PRIORNET_onednn_INCLUDE)
  file(STRINGS ${PRIORNET_onednn_INCLUDE}/oneapi/dnnl/dnnl_version.h onednn_version REGEX "DNNL_VERSION_MAJOR +2")
endif()
if(onednn_version)
  priornet_find_plain(onednn dnnl.hpp dnnl)
endif()

# The server needs Boost's headers, and OpenSSL.
if(OpenSSL_FOUND AND NOT TARGET priornet_reader::beast)
  find_path(PRIORNET_beast_INCLUDE boost/beast/http.hpp)
  mark_as_advanced(PRIORNET_beast_INCLUDE)
  if(PRIORNET_beast_INCLUDE)
    add_library(priornet_reader::beast INTERFACE IMPORTED GLOBAL)
    set_target_properties(priornet_reader::beast PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${PRIORNET_beast_INCLUDE}
                          INTERFACE_LINK_LIBRARIES "OpenSSL::SSL;OpenSSL::Crypto")
  endif()
endif()
