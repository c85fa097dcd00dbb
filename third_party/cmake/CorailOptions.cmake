# Compiler settings that every target of this repository shares.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# A compiler cache pays for itself at once: four presets compile the same files. An explicit
# launcher (variable or environment) wins.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CORAIL_CCACHE ccache)
  if(CORAIL_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CORAIL_CCACHE}")
  endif()
endif()

# The inlined xxHash is nearly twice as fast with AVX2 on data in the cache, so a build for this
# very machine asks for it when the machine has it. Only AVX2 is asked for, not x86-64-v3: virtual
# machines often hide one of the other features of that level. -DCORAIL_ARCH_OPTIONS= makes a
# portable build. An embedding project decides for itself: mixing instruction sets between its
# inline functions and ours would let the linker pick the wrong copy.
set(default_arch_options "")
if(PROJECT_IS_TOP_LEVEL AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo cpu_with_avx2 REGEX "^flags.* avx2( |$)" LIMIT_COUNT 1)
  if(cpu_with_avx2)
    set(default_arch_options "-mavx2")
  endif()
endif()
set(CORAIL_ARCH_OPTIONS "${default_arch_options}" CACHE STRING
  "Compiler options that choose the instruction set")
add_compile_options(${CORAIL_ARCH_OPTIONS})

# Frame pointers cost next to nothing and make every profile and sanitizer stack readable.
add_compile_options(-fno-omit-frame-pointer)

if(CORAIL_SANITIZE)
  add_compile_options("-fsanitize=${CORAIL_SANITIZE}")
  add_link_options("-fsanitize=${CORAIL_SANITIZE}")
  if(CORAIL_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# Linked PRIVATE by our own targets only, so nobody else's code is held to our warnings.
add_library(corail_warnings INTERFACE)
target_compile_options(corail_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# Several sources in one translation unit save most of a clean build, which reading Asio dominates.
# The warning is about types of an unnamed namespace that more than one unit could see; here the
# "header" they stand in is one source of the batch.
if(CMAKE_UNITY_BUILD)
  target_compile_options(corail_warnings INTERFACE -Wno-subobject-linkage)
endif()

find_package(Threads REQUIRED)
