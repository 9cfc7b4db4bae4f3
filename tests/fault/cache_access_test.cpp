// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Other users' files and read-only folders. As root the children become user 65534; otherwise the
// cases that need a second user are skipped.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/files/cubin_store.hpp"
#include "cache/store/store.hpp"
#include "tests/fault/child_process.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::ChildProcess;
using test::good_trial;
using test::TempFolder;

constexpr uid_t kNobody = 65534;

class CacheAccess : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
    TuningStore::open(path, OpenMode::read_write).record(good_trial(1000));
    ::chmod(folder.path().c_str(), 0755);
    ::chmod(path.c_str(), 0644);
  }
  /// What `body` writes or throws, run as nobody.
  static std::string as_nobody(const std::function<void(int out)>& body) {
    ChildProcess child([&](int out) {
      if (::setresgid(kNobody, kNobody, kNobody) != 0 ||
          ::setresuid(kNobody, kNobody, kNobody) != 0) {
        throw Error(ErrorKind::internal, "cannot become nobody");
      }
      body(out);
    });
    return child.output();
  }
  std::string open_as_nobody(OpenMode mode) const {
    return as_nobody([&](int out) {
      const TuningStore store = TuningStore::open(path, mode);
      const std::string count = std::to_string(store.trials({}).size());
      (void)!::write(out, count.data(), count.size());
    });
  }
  TempFolder folder;
  std::string path = folder.file("tuning.db");
};

TEST_F(CacheAccess, ARootOwnedDatabaseCanBeReadByAll) {
  EXPECT_EQ(open_as_nobody(OpenMode::read_only), "1");
}

TEST_F(CacheAccess, AndWrittenByNoneOfThem) {
  const std::string text = open_as_nobody(OpenMode::read_write);
  EXPECT_NE(text.find("cannot be written"), std::string::npos) << text;
  EXPECT_NE(text.find("Next: "), std::string::npos) << text;
}

TEST_F(CacheAccess, AReadOnlyFolderIsNamed) {
  ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  const std::string text = open_as_nobody(OpenMode::read_write);
  EXPECT_NE(text.find("folder " + folder.path() + " is read-only"), std::string::npos) << text;
  EXPECT_EQ(open_as_nobody(OpenMode::read_only), "1");
}

TEST_F(CacheAccess, AnUnreadableFileIsAClearError) {
  ::chmod(path.c_str(), 0600);
  const std::string text = open_as_nobody(OpenMode::read_only);
  EXPECT_NE(text.find(path), std::string::npos) << text;
  EXPECT_NE(text.find("Next: "), std::string::npos) << text;
}

TEST_F(CacheAccess, AForeignOwnerIsRefusedForReadingAndWriting) {
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    const std::string text = open_as_nobody(mode);
    EXPECT_NE(text.find("user ID 12345"), std::string::npos) << text;
    EXPECT_NE(text.find("`cp "), std::string::npos) << text;
    EXPECT_THROW((void)TuningStore::open(path, mode), Error) << "root is not an exception";
  }
}

TEST_F(CacheAccess, AFolderOfAStrangerIsRefused) {
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
  const std::string text = open_as_nobody(OpenMode::read_only);
  EXPECT_NE(text.find("user ID 12345"), std::string::npos) << text;
}

TEST_F(CacheAccess, CreatingWhereOneMayNotWriteIsAClearError) {
  const std::string text =
      as_nobody([&](int) { (void)TuningStore::open(folder.file("a/b.db"), OpenMode::read_write); });
  EXPECT_NE(text.find(folder.file("a") + " (Permission denied)"), std::string::npos) << text;
  EXPECT_NE(text.find("Next: "), std::string::npos) << text;
}

TEST_F(CacheAccess, AForeignCubinStoreIsAMissWithOneWarning) {
  const std::string cubins = folder.file("cubins.db");
  CubinRecord record;
  record.cubin.resize(10);
  {
    CubinStore store(cubins, 1 << 20, {});
    store.put({"r", "", "", ""}, record);
  }
  ::chmod(cubins.c_str(), 0644);
  ASSERT_EQ(::chown(cubins.c_str(), 12345, 12345), 0);
  const std::string text = as_nobody([&](int out) {
    CubinStore store(cubins, 1 << 20, [&](const std::string&) { (void)!::write(out, "w", 1); });
    store.put({"r", "", "", ""}, record);
    if (store.get({"r", "", "", ""})) (void)!::write(out, "found", 5);
  });
  EXPECT_EQ(text, "w");
}

}  // namespace
}  // namespace kiln
