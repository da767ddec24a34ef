// The fingerprint covers everything that bitcode holds: every field of every kind of record changes
// it, and a field that a new LLVM adds is detected here, as a longer record or an opcode without a
// sample.
#include "fingerprint.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/IR/InstIterator.h"
#include "reader.h"
#include "sample.h"

using namespace compiler_gym::llvm;
using compiler_gym::tests::each_edited_sample;
using compiler_gym::tests::sample;

namespace {

WordStream::Digest digest_of(std::string_view text, ::llvm::LLVMContext& context) {
  return Fingerprint().of(*read_module(text, "", context));
}

// The lengths of the records that bitcode writes, by block and code; the longest of each.
using Lengths = std::map<std::pair<unsigned, unsigned>, std::size_t>;

void measure(::llvm::BitstreamCursor& cursor, unsigned block, Lengths& lengths) {
  ::llvm::SmallVector<std::uint64_t, 64> record;
  while (!cursor.AtEndOfStream()) {
    const auto entry = ::llvm::cantFail(cursor.advance());
    if (entry.Kind == ::llvm::BitstreamEntry::SubBlock) {
      if (entry.ID == ::llvm::bitc::BLOCKINFO_BLOCK_ID) {
        static ::llvm::BitstreamBlockInfo info;
        info = *::llvm::cantFail(cursor.ReadBlockInfoBlock());
        cursor.setBlockInfo(&info);
        continue;
      }
      ::llvm::cantFail(cursor.EnterSubBlock(entry.ID));
      measure(cursor, entry.ID, lengths);
    } else if (entry.Kind == ::llvm::BitstreamEntry::Record) {
      record.clear();
      const unsigned code = ::llvm::cantFail(cursor.readRecord(entry.ID, record));
      auto& longest = lengths[{block, code}];
      longest = std::max<std::size_t>(longest, record.size());
    } else {
      return;
    }
  }
}

}  // namespace

TEST_CASE("every field of IR flips the fingerprint") {
  ::llvm::LLVMContext context;
  const auto before = digest_of(sample, context);
  CHECK(before == digest_of(sample, context));
  each_edited_sample(
      [&](const std::string& edited) { CHECK(digest_of(edited, context) != before); });
}

TEST_CASE("there is a sample of every instruction that LLVM has") {
  ::llvm::LLVMContext context;
  const auto module = read_module(sample, "", context);
  std::set<std::string> met;
  for (const auto& function : *module) {
    for (const auto& instruction : ::llvm::instructions(function)) {
      met.insert(instruction.getOpcodeName());
    }
  }
  const std::set<std::string> unused{"<Invalid operator>", "UserOp1", "UserOp2"};
#define HANDLE_INST(number, opcode, Class)                               \
  {                                                                      \
    const std::string name = ::llvm::Instruction::getOpcodeName(number); \
    CAPTURE(name);                                                       \
    CHECK(met.count(name) + unused.count(name) == 1);                    \
  }
#define HANDLE_USER_INST(number, opcode, Class)
#include "llvm/IR/Instruction.def"
}

TEST_CASE("the records of bitcode have the fields that the fingerprint was written for") {
  ::llvm::LLVMContext context;
  const auto bitcode = bitcode_of(*read_module(sample, "", context));
  ::llvm::BitstreamCursor cursor(::llvm::StringRef(bitcode).drop_front(4));
  Lengths lengths;
  measure(cursor, 0, lengths);
  using namespace ::llvm::bitc;
  const Lengths known{
      {{MODULE_BLOCK_ID, MODULE_CODE_GLOBALVAR}, 20},
      {{MODULE_BLOCK_ID, MODULE_CODE_FUNCTION}, 21},
      {{MODULE_BLOCK_ID, MODULE_CODE_ALIAS}, 13},
      {{MODULE_BLOCK_ID, MODULE_CODE_IFUNC}, 10},
      {{MODULE_BLOCK_ID, MODULE_CODE_COMDAT}, 3},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_ALLOCA}, 4},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_LOAD}, 4},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_STORE}, 4},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_FENCE}, 2},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_CMPXCHG}, 9},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_ATOMICRMW}, 7},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_GEP}, 4},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_BINOP}, 4},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_CAST}, 4},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_UNOP}, 2},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_CMP2}, 3},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_VSELECT}, 3},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_SHUFFLEVEC}, 3},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_VAARG}, 3},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_LANDINGPAD}, 3},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_CALL}, 6},
      {{FUNCTION_BLOCK_ID, FUNC_CODE_INST_CALLBR}, 8},
      {{CONSTANTS_BLOCK_ID, CST_CODE_BLOCKADDRESS}, 3},
  };
  for (const auto& [record, length] : known) {
    CAPTURE(record.first);
    CAPTURE(record.second);
    CHECK(lengths[record] == length);
  }
}
