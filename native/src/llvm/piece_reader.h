// Describes a module in pieces, so that after a pass only those that it touched
// are read again: every body is one, what symbols hold outside bodies another.
//
// A description lasts as long as its piece is unchanged, whatever happens to the
// others, and is compared within one process only. So symbols go by their names;
// types, lists of attributes, plain constants and plain metadata, which a context
// keeps for ever and once, by their addresses.
//
// What crosses pieces is no part of that: where the uses of shared constants stand
// in their lists, and which distinct nodes of metadata are meant. Their addresses
// are kept, to be compared by change_detector.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "description.h"
#include "llvm/ADT/DenseSet.h"

namespace compiler_gym::llvm {

struct Piece {
  WordStream::Digest content{};
  std::size_t instructions = 0;
  // Its uses of what has a list of uses and is shared, in the order of the walk,
  // and for each the next in its list that is not a leftover.
  std::vector<const ::llvm::Use*> uses, next_uses;
  // Its distinct nodes in the order of their first mention, the first of them
  // mentioned by the piece itself, and what all of them hold.
  std::vector<const ::llvm::MDNode*> nodes;
  std::size_t own_nodes = 0;
  WordStream::Digest node_content{};
  // How many values the walk numbered.
  std::uint32_t locals = 0;
};

// Whether the user is no constant that nothing uses: constants outlive the code that used them,
// and bitcode does not hold those.
bool is_in_use(const ::llvm::Use& use);
// The next in its list that is in use.
const ::llvm::Use* next_in_list(const ::llvm::Use& use);

class PieceReader : private Description<PieceReader> {
 public:
  // Everything that a body holds, with what its function refers to.
  void read_body(const ::llvm::Function& function, Piece& piece);
  // Initialisers, aliases and metadata of symbols, named metadata.
  void read_outside(const ::llvm::Module& module, Piece& piece);
  // Look again at what crosses pieces, in a piece that did not change.
  void refresh(Piece& piece);

  // The symbols themselves: names, order, types, linkage, attributes.
  WordStream::Digest symbols(const ::llvm::Module& module);

  // Whether something was met, since this was last asked, that pieces do not tell apart:
  // records of debugging, symbols without names, addresses of blocks of other functions.
  bool met_the_unusual();

 private:
  friend Description<PieceReader>;

  void start(Piece& piece);
  void finish(Piece& piece);
  bool is_new(const void* key);
  void name(const ::llvm::GlobalValue& symbol);
  bool is_lasting(const ::llvm::Metadata& node, unsigned depth = 0);

  // See description.h.
  void type(const ::llvm::Type* type) { address(type); }
  void attributes(::llvm::AttributeList list) { address(list.getRawPointer()); }
  void constant(const ::llvm::Value& value);
  void constant_use(const ::llvm::Use& use);
  void metadata(const ::llvm::Metadata* node);
  void block_address(const ::llvm::BlockAddress& address);
  void outer_use(const ::llvm::Use&) {}
  void outer_attachments(const ::llvm::GlobalObject&) {}

  void address(const void* lasting) { out_.wide(reinterpret_cast<std::uintptr_t>(lasting)); }

  FlatTable shared_;
  std::uint32_t next_shared_ = 0;
  Piece* piece_ = nullptr;
  const ::llvm::Function* function_ = nullptr;
  ::llvm::DenseSet<const ::llvm::Metadata*> lasting_;
  bool unusual_ = false;
};

}  // namespace compiler_gym::llvm
