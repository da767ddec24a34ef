// The Python module compiler_gym._llvm: one binding file per header.

#include "bindings.h"

NB_MODULE(_llvm, m) {
  using namespace compiler_gym::python;
  m.doc() = "LLVM 22 in process: one module, changed by pass pipelines.";
  bind_errors(m);
  bind_runtime(m);
  bind_features(m);
  bind_function_shapes(m);
  bind_functions(m);
  bind_inlining(m);
  bind_ir2vec(m);
  bind_linker(m);
  bind_machine(m);
  bind_module(m);
  bind_marks(m);
  bind_pass_record(m);
  bind_pass_timing(m);
  bind_pipeline(m);
  bind_plugins(m);
  bind_program_graph(m);
  bind_statements(m);
  bind_tables(m);
  bind_tokens(m);
  bind_trials(m);
}
