# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, static wherever Debian has them, so that a build folder runs elsewhere.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_library(KILN_SQLITE_LIBRARY NAMES libsqlite3.a REQUIRED)
find_library(KILN_SQLITECPP_LIBRARY NAMES libSQLiteCpp.a REQUIRED)
find_library(KILN_XXHASH_LIBRARY NAMES libxxhash.a REQUIRED)
find_library(KILN_ZLIB_LIBRARY NAMES libz.a REQUIRED)
find_path(KILN_ZLIB_INCLUDE NAMES zlib.h REQUIRED)
# Headers only, so that nothing of it is needed at run time.
find_path(KILN_TOML_INCLUDE NAMES toml++/toml.h REQUIRED)

# Debian has {fmt} only as a shared library, and its header-only form costs 1.5 to 2.5 s in each
# file. So its implementation is compiled here, once, from its own header.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  get_target_property(KILN_FMT_INCLUDE fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  add_library(kiln_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt_static.cpp)
  target_include_directories(kiln_fmt SYSTEM PUBLIC ${KILN_FMT_INCLUDE})
  set(KILN_FMT_ARCHIVE $<TARGET_FILE:kiln_fmt>)
else()
  add_library(kiln_fmt INTERFACE)
  target_link_libraries(kiln_fmt INTERFACE fmt::fmt-header-only)
endif()

add_library(kiln_toml INTERFACE)
target_include_directories(kiln_toml SYSTEM INTERFACE ${KILN_TOML_INCLUDE})
add_library(kiln_xxhash INTERFACE)
target_link_libraries(kiln_xxhash INTERFACE ${KILN_XXHASH_LIBRARY})
add_library(kiln_zlib INTERFACE)
target_include_directories(kiln_zlib SYSTEM INTERFACE ${KILN_ZLIB_INCLUDE})
target_link_libraries(kiln_zlib INTERFACE ${KILN_ZLIB_LIBRARY})
add_library(kiln_sqlite INTERFACE)
target_link_libraries(kiln_sqlite INTERFACE ${KILN_SQLITECPP_LIBRARY} ${KILN_SQLITE_LIBRARY}
                      Threads::Threads ${CMAKE_DL_LIBS} m)

if(KILN_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
  include(GoogleTest)
endif()
