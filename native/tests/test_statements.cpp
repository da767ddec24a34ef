#include "compiler_gym/llvm/statements.h"

#include <doctest/doctest.h>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

TEST_CASE("a loop in the statements of inst2vec's time") {
  ::llvm::LLVMContext context;
  const auto found = write_statements(*read_module(compiler_gym::tests::loop, "", context));
  const std::vector<std::string> expected{
      "define i32 <@ID>(i32*, i32)",
      "<%ID> = alloca i32, align 4",
      "store i32 <INT>, i32* <%ID>, align 4",
      "br label <%ID>",
      "; <label>:<LABEL>: ; preds = <LABEL>, <LABEL>",
      "<%ID> = phi i32 [ 0, <%ID> ], [ <%ID>, <%ID> ]",
      "<%ID> = icmp slt i32 <%ID>, <%ID>",
      "br i1 <%ID>, label <%ID>, label <%ID>",
      "; <label>:<LABEL>: ; preds = <LABEL>",
      "<%ID> = getelementptr inbounds i32, i32* <%ID>, i32 <%ID>",
      "<%ID> = load i32, i32* <%ID>, align 4",
      "<%ID> = load i32, i32* <%ID>, align 4",
      "<%ID> = add nsw i32 <%ID>, <%ID>",
      "store i32 <%ID>, i32* <%ID>, align 4",
      "<%ID> = add nuw nsw i32 <%ID>, <INT>",
      "br label <%ID>",
      "; <label>:<LABEL>: ; preds = <LABEL>",
      "<%ID> = load i32, i32* <%ID>, align 4",
      "ret i32 <%ID>",
  };
  CHECK(found == expected);
}
