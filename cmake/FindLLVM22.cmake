# LLVM's own CMake package names archives that Debian ships elsewhere (libPolly.a, libFileCheck.a),
# so the libraries come from llvm-config instead.
#
# Defines the targets LLVM22::LLVM (static archives of the machines below), with COMPILER_GYM_JIT also
# LLVM22::JIT (code for this machine and for GPUs, and what links it), and LLVM22_VERSION.

find_program(LLVM22_CONFIG NAMES llvm-config-22 HINTS /usr/lib/llvm-22/bin)
if(NOT LLVM22_CONFIG)
  message(FATAL_ERROR
    "llvm-config-22 was not found. The engine links LLVM 22 statically; on Debian install\n"
    "  apt install llvm-22-dev libzstd-dev zlib1g-dev lld-22\n"
    "or point -DLLVM22_CONFIG= at the llvm-config of an LLVM 22 installation.")
endif()

function(_llvm22_query result)
  execute_process(COMMAND ${LLVM22_CONFIG} ${ARGN}
    OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE complaint RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR
      "'${LLVM22_CONFIG} ${ARGN}' failed: ${complaint}\n"
      "The static archives are in Debian's package llvm-22-dev.")
  endif()
  separate_arguments(output UNIX_COMMAND "${output}")
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

_llvm22_query(LLVM22_VERSION --version)
if(NOT LLVM22_VERSION MATCHES "^22\\.")
  message(FATAL_ERROR "LLVM 22 is needed, ${LLVM22_CONFIG} reports ${LLVM22_VERSION}.")
endif()
_llvm22_query(_llvm22_include --includedir)
_llvm22_query(_llvm22_libdir --libdir)
# Code is made for x86 always, and for what stands here: a shorter list makes a smaller module.
set(COMPILER_GYM_MACHINES "AArch64;RISCV" CACHE STRING "Machines beside x86 to make code for")
set(_llvm22_machines "")
foreach(machine IN LISTS COMPILER_GYM_MACHINES)
  if(NOT machine MATCHES "^(AArch64|RISCV)$")
    message(FATAL_ERROR "COMPILER_GYM_MACHINES is AArch64, RISCV or both, found '${machine}'.")
  endif()
  string(TOLOWER ${machine} name)
  list(APPEND _llvm22_machines ${name}asmparser ${name}codegen ${name}desc ${name}disassembler
    ${name}info)
endforeach()
if("RISCV" IN_LIST COMPILER_GYM_MACHINES)
  list(APPEND _llvm22_machines riscvtargetmca)
endif()
_llvm22_query(_llvm22_libs --link-static --libs ${_llvm22_machines}
  analysis bitreader bitwriter irprinter irreader linker mc mca object passes target
  x86asmparser x86codegen x86desc x86disassembler x86info x86targetmca)

if(COMPILER_GYM_JIT)
  _llvm22_query(_llvm22_jit_libs --link-static --libs
    asmparser nvptxcodegen nvptxdesc nvptxinfo orcjit passes target x86asmparser x86codegen x86desc
    x86info)
endif()

find_library(LLVM22_ZLIB NAMES libz.a REQUIRED)
find_library(LLVM22_ZSTD NAMES libzstd.a REQUIRED)

# Only an engine that shares its LLVM can load plug-ins; there need not be one.
find_library(LLVM22_SHARED NAMES LLVM-22 HINTS ${_llvm22_libdir} NO_DEFAULT_PATH)

add_library(LLVM22::LLVM INTERFACE IMPORTED)
target_include_directories(LLVM22::LLVM SYSTEM INTERFACE ${_llvm22_include})
target_compile_definitions(LLVM22::LLVM INTERFACE
  _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
target_link_directories(LLVM22::LLVM INTERFACE ${_llvm22_libdir})
target_link_libraries(LLVM22::LLVM INTERFACE
  -Wl,--start-group ${_llvm22_libs} -Wl,--end-group
  ${LLVM22_ZLIB} ${LLVM22_ZSTD} rt dl m)

if(COMPILER_GYM_JIT)
  add_library(LLVM22::JIT INTERFACE IMPORTED)
  target_include_directories(LLVM22::JIT SYSTEM INTERFACE ${_llvm22_include})
  target_compile_definitions(LLVM22::JIT INTERFACE
    _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
  target_link_directories(LLVM22::JIT INTERFACE ${_llvm22_libdir})
  target_link_libraries(LLVM22::JIT INTERFACE
    -Wl,--start-group ${_llvm22_jit_libs} -Wl,--end-group
    ${LLVM22_ZLIB} ${LLVM22_ZSTD} rt dl m pthread)
endif()
message(STATUS "LLVM ${LLVM22_VERSION} from ${LLVM22_CONFIG}")
