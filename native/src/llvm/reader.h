// Read modules and collect LLVM's diagnostics about them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler_gym/given_up.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {

std::string trimmed(const std::string& message);

// Store error diagnostics in `errors`, one line each, and drop value names, which depend on the
// order of earlier passes. LLVM's default handler would print, and end the process. Debug types
// with the same identifier are merged, as in `opt` and `llvm-link`. `errors` must outlive the
// context.
void collect_errors(::llvm::LLVMContext& context, std::string& errors);

// Parse bitcode or textual IR. A module without a data layout gets its triple's. Throws InitError.
std::unique_ptr<::llvm::Module> read_module(std::string_view data, const std::string& name,
                                            ::llvm::LLVMContext& context);

// The verifier's complaints about the module; empty if there are none.
std::string find_invalid_ir(const ::llvm::Module& module);

// The bytes that opt would write.
std::string bitcode_of(const ::llvm::Module& module);

}  // namespace compiler_gym::llvm
