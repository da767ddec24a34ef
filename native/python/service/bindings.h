// Helpers that the binding files of the service share.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "compiler_gym/service/channel.h"

namespace compiler_gym::python {

namespace nb = nanobind;
using namespace nb::literals;

// The type of arguments from Python: any sequence of channels, not only a list.
using ChannelSequence = nb::typed<nb::sequence, service::Channel>;
using Numbers = nb::typed<nb::sequence, double>;

void bind_channel(nb::module_& m);
void bind_cores(nb::module_& m);
void bind_exchange(nb::module_& m);
void bind_reply(nb::module_& m);

// The interpreter as the host of all channels.
service::Host& interpreter();

// The same bytes, kept alive with a reference.
service::Bytes bytes_of(nb::bytes object);

std::vector<service::Channel*> channels_in(const nb::sequence& sequence);

}  // namespace compiler_gym::python
