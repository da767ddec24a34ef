// movapd %xmm1, %xmm0  ->  movaps %xmm1, %xmm0
//
// Instructions that copy or combine bits do not depend on the type of the bits, but only those for
// single floats have encodings without a prefix: one byte less, at no cost except a cycle between
// units on some processors.

#include <llvm/CodeGen/TargetInstrInfo.h>
#include <utility>

#include "encodings/rules.h"
#include "encodings/site.h"

namespace compiler_gym::linker {
namespace {

constexpr std::pair<Opcode, Opcode> pairs[] = {
    {MOVAPDrr, MOVAPSrr}, {MOVAPDrm, MOVAPSrm},    {MOVAPDmr, MOVAPSmr},    {MOVUPDrr, MOVUPSrr},
    {MOVUPDrm, MOVUPSrm}, {MOVUPDmr, MOVUPSmr},    {MOVDQArr, MOVAPSrr},    {MOVDQArm, MOVAPSrm},
    {MOVDQAmr, MOVAPSmr}, {MOVDQUrr, MOVUPSrr},    {MOVDQUrm, MOVUPSrm},    {MOVDQUmr, MOVUPSmr},
    {XORPDrr, XORPSrr},   {XORPDrm, XORPSrm},      {PXORrr, XORPSrr},       {PXORrm, XORPSrm},
    {ANDPDrr, ANDPSrr},   {ANDPDrm, ANDPSrm},      {PANDrr, ANDPSrr},       {PANDrm, ANDPSrm},
    {ANDNPDrr, ANDNPSrr}, {ANDNPDrm, ANDNPSrm},    {PANDNrr, ANDNPSrr},     {PANDNrm, ANDNPSrm},
    {ORPDrr, ORPSrr},     {ORPDrm, ORPSrm},        {PORrr, ORPSrr},         {PORrm, ORPSrm},
    {MOVSDmr, MOVLPSmr},  {MOVPQI2QImr, MOVLPSmr}, {MOVLPDmr, MOVLPSmr},    {MOVLPDrm, MOVLPSrm},
    {MOVHPDmr, MOVHPSmr}, {MOVHPDrm, MOVHPSrm},    {UNPCKLPDrr, MOVLHPSrr},
};

}  // namespace

bool packed_single(llvm::MachineInstr& instruction, Site& site) {
  const Opcode opcode = site.x86.opcode(instruction);
  if (opcode == OTHER) return false;
  const auto* pair = llvm::find_if(pairs, [&](auto& pair) { return pair.first == opcode; });
  if (pair == std::end(pairs) || !site.commit()) return false;
  instruction.setDesc(site.description(pair->second));
  return true;
}

}  // namespace compiler_gym::linker
