# priornet_recipes(file...): builds these TOML files into the library (experiments/recipes.h). CMake runs again when one
# of them changes.
function(priornet_recipes)
  set(entries "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME_WE)
    string(APPEND entries "    {\"${name}\", R\"toml(${text})toml\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT recipe_texts.cpp @ONLY CONTENT [[
#include <priornet/experiments/recipes.h>

namespace priornet {

std::span<const Recipe> recipes() {
  static constexpr Recipe kRecipes[] = {
@entries@  };
  return kRecipes;
}

}  // namespace priornet
]])
  target_sources(priornet PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/recipe_texts.cpp)
endfunction()
