# The functions with which every folder declares its targets.
#
#   corail_add_library(rail
#     SOURCES tcp_rail.cc window.cc
#     DEPENDS exec memory corail_asio)
#   corail_add_proto(wire SOURCES control.proto)
#   corail_add_program(p2p_bench SOURCES main.cc DEPENDS rpc corail_cli11)
#   corail_add_test(rail SOURCES main.cc window_test.cc DEPENDS rail)
#   corail_add_bench(plan SOURCES scan_bench.cc DEPENDS plan)
#   corail_add_fuzzer(frames SOURCES frames_fuzzer.cc UNDER_TEST rpc/frame.cc DEPENDS base)
#
# SOURCES is an explicit list, relative to the calling folder, of all .cc files and of those headers
# that have no .cc file of the same name (the others may be listed too). A header must compile
# alone: a .cc file proves it by including its header first, and for the rest a file that includes
# nothing else is compiled, with the warnings and libraries of its target.
# DEPENDS names what the headers or sources include. A plain word is a library of ours (`exec` is
# corail::exec, and may be declared later); third-party targets carry their full name
# (corail_asio, corail_fmt, ... from third_party/CMakeLists.txt). Includes and links must agree:
# test/tidy checks it.

# Sets OUT to the targets that DEPENDS means.
function(corail_resolve_depends out)
  set(resolved "")
  foreach(name IN LISTS ARGN)
    if(name MATCHES "::|^corail_|^-")
      list(APPEND resolved "${name}")
    else()
      list(APPEND resolved "$<TARGET_NAME_IF_EXISTS:corail::${name}>")
    endif()
  endforeach()
  set(${out} "${resolved}" PARENT_SCOPE)
endfunction()

# Compiles each header among the sources of TARGET that has no .cc file of its own.
function(corail_check_headers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(NOT CORAIL_CHECK_HEADERS)
    return()
  endif()
  set(units "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    string(REGEX REPLACE "\\.h$" ".cc" own_source "${source}")
    if(source MATCHES "\\.h$" AND NOT EXISTS "${own_source}")
      file(RELATIVE_PATH header "${corail_SOURCE_DIR}" "${source}")
      set(unit "${corail_BINARY_DIR}/header_check/${header}.cc")
      file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"\n")
      list(APPEND units "${unit}")
    endif()
  endforeach()
  if(units)
    add_library(${target}_headers OBJECT ${units})
    target_include_directories(${target}_headers PRIVATE "${corail_SOURCE_DIR}")
    target_compile_options(${target}_headers PRIVATE -O0 -g0)
    # A header that is compiled behind another one proves nothing.
    set_target_properties(${target}_headers PROPERTIES UNITY_BUILD OFF)
    target_link_libraries(${target}_headers PRIVATE corail_warnings ${arg_DEPENDS})
  endif()
endfunction()

# corail_add_library(NAME SOURCES file... [DEPENDS target...])
# A static library corail_NAME with the alias corail::NAME, whose includes start at the
# repository's root. Without any .cc file it becomes an interface library.
function(corail_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  corail_require_parsed(corail_add_library)
  corail_resolve_depends(depends ${arg_DEPENDS})
  set(compiled ${arg_SOURCES})
  list(FILTER compiled INCLUDE REGEX "\\.cc$")
  if(compiled)
    add_library(corail_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(corail_${name} PRIVATE corail_warnings)
  else()
    add_library(corail_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(corail::${name} ALIAS corail_${name})
  target_include_directories(corail_${name} ${scope} "$<BUILD_INTERFACE:${corail_SOURCE_DIR}>")
  target_compile_features(corail_${name} ${scope} cxx_std_20)
  target_link_libraries(corail_${name} ${scope} ${depends} Threads::Threads)
  corail_check_headers(corail_${name} SOURCES ${arg_SOURCES} DEPENDS ${depends})
endfunction()

# corail_add_proto(NAME SOURCES file.proto...)
# A static library corail::NAME of generated code. A file proto/a.proto is included as
# "proto/a.pb.h" and imported by others as "proto/a.proto". Generated code is compiled without
# our warnings, and its headers are system headers.
function(corail_add_proto name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  corail_require_parsed(corail_add_proto)
  corail_resolve_depends(depends ${arg_DEPENDS})
  set(generated_root "${corail_BINARY_DIR}/generated")
  file(MAKE_DIRECTORY "${generated_root}")
  set(generated "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      OUTPUT_VARIABLE path)
    file(RELATIVE_PATH relative "${corail_SOURCE_DIR}" "${path}")
    string(REGEX REPLACE "\\.proto$" "" stem "${relative}")
    set(outputs "${generated_root}/${stem}.pb.cc" "${generated_root}/${stem}.pb.h")
    add_custom_command(OUTPUT ${outputs}
      COMMAND protobuf::protoc "--proto_path=${corail_SOURCE_DIR}"
        "--cpp_out=${generated_root}" "${relative}"
      DEPENDS "${path}"
      COMMENT "Generating ${stem}.pb.h"
      VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  add_library(corail_${name} STATIC ${generated})
  set_target_properties(corail_${name} PROPERTIES UNITY_BUILD OFF)
  add_library(corail::${name} ALIAS corail_${name})
  target_include_directories(corail_${name} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${generated_root}>")
  target_link_libraries(corail_${name} PUBLIC ${depends} corail_protobuf)
endfunction()

# corail_add_program(NAME SOURCES file... [DEPENDS target...])
# An executable NAME in the top of the build directory, where apps/run looks for it.
function(corail_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  corail_require_parsed(corail_add_program)
  corail_resolve_depends(depends ${arg_DEPENDS})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${corail_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE corail_warnings ${depends} Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${corail_BINARY_DIR}")
  corail_check_headers(${name} SOURCES ${arg_SOURCES} DEPENDS ${depends})
endfunction()

# corail_add_bench(NAME SOURCES file... [DEPENDS target...])
# A Google Benchmark executable bench_NAME; the library supplies main().
function(corail_add_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  corail_require_parsed(corail_add_bench)
  corail_add_program(bench_${name} SOURCES ${arg_SOURCES}
    DEPENDS ${arg_DEPENDS} corail_benchmark)
endfunction()

# corail_add_test(AREA SOURCES file... [DEPENDS target...] [PROGRAMS name...])
# One Boost.Test program test_AREA, registered in ctest as AREA. Exactly one of its files defines
# BOOST_TEST_MODULE before including <boost/test/unit_test.hpp>; BOOST_TEST_DYN_LINK is set here.
# PROGRAMS lists executables that the test starts: they are built first, and their full paths are
# in the macro CORAIL_PROGRAM_<name>.
function(corail_add_test area)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;PROGRAMS")
  corail_require_parsed(corail_add_test)
  corail_resolve_depends(depends ${arg_DEPENDS})
  set(target test_${area})
  add_executable(${target} ${arg_SOURCES})
  # It defines BOOST_TEST_MODULE, which must come before the first include of Boost.Test.
  set_source_files_properties(main.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${target} PRIVATE "${corail_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE
    corail_warnings ${depends} corail_boost_test Threads::Threads)
  foreach(program IN LISTS arg_PROGRAMS)
    add_dependencies(${target} ${program})
    target_compile_definitions(${target} PRIVATE
      "CORAIL_PROGRAM_${program}=\"$<TARGET_FILE:${program}>\"")
  endforeach()
  corail_check_headers(${target} SOURCES ${arg_SOURCES} DEPENDS ${depends} corail_boost_test)
  add_test(NAME ${area} COMMAND ${target})
  corail_set_test_environment(${area})
endfunction()

# corail_add_fuzzer(NAME SOURCES file... [UNDER_TEST file...] [DEPENDS target...])
# A libFuzzer executable fuzz_NAME in the top of the build directory. UNDER_TEST names sources of
# the repository, from its root, that are compiled into it: Clang does not know the coroutines of
# the libraries that they belong to.
function(corail_add_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;UNDER_TEST;DEPENDS")
  corail_require_parsed(corail_add_fuzzer)
  list(TRANSFORM arg_UNDER_TEST PREPEND "${corail_SOURCE_DIR}/")
  corail_add_program(fuzz_${name} SOURCES ${arg_SOURCES} ${arg_UNDER_TEST} DEPENDS ${arg_DEPENDS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()

# corail_optimize_with_sanitizers(FILE...)
# Sources of the current directory that go over every byte of large memory: sanitizer builds, which
# are not optimized otherwise, spend most of their time there. They are checked all the same.
function(corail_optimize_with_sanitizers)
  if(CORAIL_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2)
  endif()
endfunction()

# Time limit and environment of a registered test. The limit is for hangs, not for slowness: it
# leaves room for a sanitizer build on a busy machine. Boost's own signal handling is off because
# the sanitizers report crashes better. The report file lets test/run count single cases.
function(corail_set_test_environment area)
  file(MAKE_DIRECTORY "${corail_BINARY_DIR}/test_reports")
  set_tests_properties(${area} PROPERTIES
    TIMEOUT 600
    ENVIRONMENT "\
BOOST_TEST_CATCH_SYSTEM_ERRORS=no;\
BOOST_TEST_COLOR_OUTPUT=no;\
BOOST_TEST_REPORT_FORMAT=XML;\
BOOST_TEST_REPORT_LEVEL=short;\
BOOST_TEST_REPORT_SINK=${corail_BINARY_DIR}/test_reports/${area}.xml;\
ASAN_OPTIONS=detect_stack_use_after_return=1:check_initialization_order=1:strict_string_checks=1;\
UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1;\
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
endfunction()

# Rejects misspelt keywords and empty source lists where they are written.
macro(corail_require_parsed function_name)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function_name}: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()
