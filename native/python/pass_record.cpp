// Python face of compiler_gym/llvm/pass_record.h.

#include "compiler_gym/llvm/pass_record.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_pass_record(nb::module_& m) {
  m.def(
      "run_recorded",
      [](llvm::Module& module, const std::string& pipeline, const llvm::OptionValues& options) {
        const auto record = [&] {
          nb::gil_scoped_release unlocked;
          return module.run_recorded(pipeline, options);
        }();
        nb::list remarks;
        for (const auto& [kind, pass, name, function, message] : record.remarks) {
          remarks.append(texts({kind, pass, name, function, message}));
        }
        Columns columns;
        columns["changed"] = record.changed;
        columns["added"] = raw(record.added);
        columns["removed"] = raw(record.removed);
        columns["changed_functions"] = texts(record.changed_functions);
        columns["new_functions"] = texts(record.new_functions);
        columns["lost_functions"] = texts(record.lost_functions);
        columns["remarks"] = remarks;
        return columns;
      },
      "module"_a, "pipeline"_a, "options"_a = llvm::OptionValues(),
      "Run a pipeline like Module.run(), or run_with() if there are options, and return its\n"
      "effects, including remarks.");
}

}  // namespace compiler_gym::python
