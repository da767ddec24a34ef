// Python face of compiler_gym/service/reply.h: the values that service/messages.py compares itself
// with.

#include "compiler_gym/service/reply.h"

#include "bindings.h"

namespace compiler_gym::python {

void bind_reply(nb::module_& m) {
  nb::list fields;
  for (const auto field : service::stepped_fields)
    fields.append(nb::str(field.data(), field.size()));
  m.attr("STEPPED_TAG") = service::stepped_tag;
  m.attr("STEPPED_FIELDS") = nb::tuple(fields);
}

}  // namespace compiler_gym::python
