// Textual IR with every kind of instruction, and edits that change one field each.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>

namespace compiler_gym::tests {

// At least one instruction of every kind.
inline constexpr std::string_view sample = R"(
source_filename = "sample.c"
target triple = "x86_64-pc-linux-gnu"
$c = comdat any
@g = global i32 1, align 4
@t = thread_local global i32 2, section "s", comdat($c)
@table = internal unnamed_addr constant [2 x i8] c"ab"
@a = alias i32, ptr @g
@i = ifunc void (), ptr @resolve
declare i32 @personality(...)
declare ptr @resolve()
declare void @callee(i32, ptr)
define void @ends() personality ptr @personality {
  invoke void @callee(i32 1, ptr @g) to label %on unwind label %pad
on:
  invoke void @callee(i32 1, ptr @g) to label %done unwind label %clean
done:
  ret void
pad:
  %caught = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %caught
clean:
  %other = landingpad { ptr, i32 } cleanup
  unreachable
}
define void @funclets() personality ptr @personality {
  invoke void @callee(i32 1, ptr @g) to label %done unwind label %dispatch
done:
  ret void
dispatch:
  %switch = catchswitch within none [label %handler] unwind label %cleanup
handler:
  %catch = catchpad within %switch [ptr null, i32 64, ptr null]
  catchret from %catch to label %done
cleanup:
  %clean = cleanuppad within none []
  cleanupret from %clean unwind to caller
}
define i32 @all(i32 %x, float %f, ptr %p, <4 x i32> %v, i1 %b, ...) {
entry:
  %slot = alloca i32, align 8
  %read = load i32, ptr %p, align 4
  store i32 %read, ptr %slot, align 4
  fence seq_cst
  %swap = cmpxchg ptr %p, i32 1, i32 2 seq_cst monotonic, align 4
  %rmw = atomicrmw add ptr %p, i32 1 seq_cst, align 4
  %at = getelementptr inbounds i32, ptr %p, i32 %x
  %add = add nsw i32 %x, 1
  %fadd = fadd fast float %f, 1.0
  %sub = sub i32 %x, 1
  %fsub = fsub float %f, 1.0
  %mul = mul i32 %x, 3
  %fmul = fmul float %f, 3.0
  %udiv = udiv exact i32 %x, 3
  %sdiv = sdiv i32 %x, 3
  %fdiv = fdiv float %f, 3.0
  %urem = urem i32 %x, 3
  %srem = srem i32 %x, 3
  %frem = frem float %f, 3.0
  %fneg = fneg float %f
  %shl = shl i32 %x, 1
  %lshr = lshr i32 %x, 1
  %ashr = ashr i32 %x, 1
  %and = and i32 %x, 6
  %or = or disjoint i32 %x, 6
  %xor = xor i32 %x, 6
  %trunc = trunc i32 %x to i8
  %zext = zext nneg i8 %trunc to i32
  %sext = sext i8 %trunc to i32
  %fptoui = fptoui float %f to i32
  %fptosi = fptosi float %f to i32
  %uitofp = uitofp i32 %x to float
  %sitofp = sitofp i32 %x to float
  %fpext = fpext float %f to double
  %fptrunc = fptrunc double %fpext to float
  %int = ptrtoint ptr %p to i64
  %address = ptrtoaddr ptr %p to i64
  %ptr = inttoptr i64 %int to ptr
  %bits = bitcast float %f to i32
  %space = addrspacecast ptr %p to ptr addrspace(1)
  %icmp = icmp slt i32 %x, 3
  %fcmp = fcmp olt float %f, 3.0
  %select = select i1 %b, i32 %x, i32 7
  %va = va_arg ptr %p, i32
  %element = extractelement <4 x i32> %v, i32 1
  %inserted = insertelement <4 x i32> %v, i32 5, i32 1
  %shuffle = shufflevector <4 x i32> %v, <4 x i32> poison, <2 x i32> <i32 0, i32 2>
  %pair = insertvalue { i32, i32 } poison, i32 %x, 1
  %part = extractvalue { i32, i32 } %pair, 1
  %frozen = freeze i32 %x
  call void @callee(i32 %x, ptr %p) [ "tag"(i32 5) ]
  callbr void asm "", "r,!i"(i32 %x) to label %next [label %other]
next:
  switch i32 %x, label %other [ i32 1, label %left i32 2, label %right ]
left:
  br label %right
right:
  %phi = phi i32 [ 4, %left ], [ 5, %next ]
  indirectbr ptr blockaddress(@all, %other), [label %other]
other:
  ret i32 %x
}
!named = !{!0}
!0 = !{!"text", i32 3}
)";

struct Edit {
  std::string_view before, after;
};

// One field each.
inline constexpr Edit edits[] = {
    {"sample.c", "other.c"},
    {"pc-linux-gnu", "unknown-linux-gnu"},
    {"target triple", "target datalayout = \"e-p:64:64\"\ntarget triple"},
    {"$c = comdat any", "$c = comdat largest"},
    {"$c = comdat any", "module asm \"nop\"\n$c = comdat any"},
    // global variables
    {"@g = global", "@g = weak global"},
    {"@g = global", "@g = hidden global"},
    {"@g = global", "@g = protected global"},
    {"@g = global", "@g = dllexport global"},
    {"@g = global", "@g = dso_local global"},
    {"@g = global", "@g = unnamed_addr global"},
    {"@g = global", "@g = local_unnamed_addr global"},
    {"@g = global", "@g = externally_initialized global"},
    {"@g = global", "@g = constant"},
    {"i32 1, align 4\n", "i32 2, align 4\n"},
    {"i32 1, align 4\n", "i64 1, align 4\n"},
    {"i32 1, align 4\n", "i32 1, align 16\n"},
    {"i32 1, align 4\n", "i32 1, partition \"p\", align 4\n"},
    {"i32 1, align 4\n", "i32 1, no_sanitize_address, align 4\n"},
    {"i32 1, align 4\n", "i32 1, no_sanitize_hwaddress, align 4\n"},
    {"i32 1, align 4\n", "i32 1, sanitize_memtag, align 4\n"},
    {"i32 1, align 4\n", "i32 1, sanitize_address_dyninit, align 4\n"},
    {"i32 1, align 4\n", "i32 1, code_model \"large\", align 4\n"},
    {"i32 1, align 4\n", "i32 1, align 4, !kind !0\n"},
    {"i32 1, align 4\n", "i32 1, align 4 \"key\"=\"value\"\n"},
    {"thread_local global", "thread_local(initialexec) global"},
    {"@table = internal unnamed_addr constant",
     "@table = internal unnamed_addr addrspace(1) constant"},
    {"thread_local global", "global"},
    {"section \"s\"", "section \"r\""},
    {", comdat($c)", ""},
    {"c\"ab\"", "c\"ac\""},
    {"@a = alias", "@a = weak alias"},
    {"ptr @g\n@i", "ptr @t\n@i"},
    {"@i = ifunc", "@i = internal ifunc"},
    // functions
    {"define void @ends()", "define void @end()"},
    {"define void @ends()", "define internal void @ends()"},
    {"define void @ends()", "define fastcc void @ends()"},
    {"define void @ends()", "define void @ends() unnamed_addr"},
    {"define void @ends()", "define void @ends() nounwind"},
    {"define void @ends()", "define void @ends() \"key\"=\"value\""},
    {"define void @ends()", "define void @ends() section \"s\""},
    {"define void @ends()", "define void @ends() align 32"},
    {"define void @ends()", "define void @ends() gc \"shadow-stack\""},
    {"define void @ends()", "define void @ends() prefix i32 1"},
    {"define void @ends()", "define void @ends() prologue i32 1"},
    {"define void @ends()", "define void @ends() comdat($c)"},
    {"define void @ends()", "define void @ends() partition \"p\""},
    {"@ends() personality ptr @personality", "@ends() personality ptr @resolve"},
    {"@ends() personality ptr @personality {", "@ends() personality ptr @personality !kind !0 {"},
    {"declare ptr @resolve()", "declare noalias ptr @resolve()"},
    {"declare void @callee(i32, ptr)", "declare void @callee(i32, ptr byval(i32))"},
    // instructions
    {"alloca i32, align 8", "alloca i64, align 8"},
    {"alloca i32, align 8", "alloca i32, align 16"},
    {"alloca i32, align 8", "alloca inalloca i32, align 8"},
    {"alloca i32, align 8", "alloca i32, i32 2, align 8"},
    {"load i32, ptr %p, align 4", "load volatile i32, ptr %p, align 4"},
    {"load i32, ptr %p, align 4", "load i32, ptr %p, align 8"},
    {"load i32, ptr %p, align 4", "load atomic i32, ptr %p monotonic, align 4"},
    {"load i32, ptr %p, align 4", "load i32, ptr %p, align 4, !nontemporal !0"},
    {"store i32 %read, ptr %slot, align 4", "store volatile i32 %read, ptr %slot, align 4"},
    {"store i32 %read, ptr %slot, align 4", "store i32 %read, ptr %slot, align 8"},
    {"store i32 %read, ptr %slot, align 4", "store atomic i32 %read, ptr %slot release, align 4"},
    {"store i32 %read, ptr %slot", "store i32 %read, ptr %p"},
    {"fence seq_cst", "fence acquire"},
    {"fence seq_cst", "fence syncscope(\"singlethread\") seq_cst"},
    {"cmpxchg ptr", "cmpxchg weak ptr"},
    {"cmpxchg ptr", "cmpxchg volatile ptr"},
    {"seq_cst monotonic, align 4", "acq_rel monotonic, align 4"},
    {"seq_cst monotonic, align 4", "seq_cst acquire, align 4"},
    {"seq_cst monotonic, align 4", "seq_cst monotonic, align 8"},
    {"seq_cst monotonic, align 4", "syncscope(\"singlethread\") seq_cst monotonic, align 4"},
    {"atomicrmw add ptr", "atomicrmw sub ptr"},
    {"atomicrmw add ptr", "atomicrmw volatile add ptr"},
    {"i32 1 seq_cst, align 4", "i32 1 monotonic, align 4"},
    {"i32 1 seq_cst, align 4", "i32 1 seq_cst, align 8"},
    {"i32 1 seq_cst, align 4", "i32 1 syncscope(\"singlethread\") seq_cst, align 4"},
    {"getelementptr inbounds i32", "getelementptr i32"},
    {"getelementptr inbounds i32", "getelementptr nusw i32"},
    {"getelementptr inbounds i32", "getelementptr inbounds nuw i32"},
    {"getelementptr inbounds i32", "getelementptr inbounds i64"},
    {"add nsw i32 %x, 1", "add nuw i32 %x, 1"},
    {"add nsw i32 %x, 1", "add i32 %x, 1"},
    {"add nsw i32 %x, 1", "add nsw i32 %x, 2"},
    {"fadd fast", "fadd nnan"},
    {"fadd fast", "fadd reassoc nnan ninf nsz arcp contract"},
    {"udiv exact", "udiv"},
    {"or disjoint", "or"},
    {"zext nneg", "zext"},
    {"trunc i32 %x to i8", "trunc nuw i32 %x to i8"},
    {"trunc i32 %x to i8", "trunc nsw i32 %x to i8"},
    {"uitofp i32", "uitofp nneg i32"},
    {"icmp slt", "icmp sle"},
    {"icmp slt", "icmp samesign slt"},
    {"fcmp olt", "fcmp ult"},
    {"fcmp olt", "fcmp nnan olt"},
    {"va_arg ptr %p, i32", "va_arg ptr %p, i64"},
    {"<i32 0, i32 2>", "<i32 0, i32 3>"},
    {"<i32 0, i32 2>", "<i32 0, i32 poison>"},
    {"poison, i32 %x, 1", "poison, i32 %x, 0"},
    {"%pair, 1", "%pair, 0"},
    {"call void @callee(i32 %x", "tail call void @callee(i32 %x"},
    {"call void @callee(i32 %x", "notail call void @callee(i32 %x"},
    {"call void @callee(i32 %x", "call fastcc void @callee(i32 %x"},
    {"call void @callee(i32 %x", "call void @callee(i32 signext %x"},
    {"\"tag\"(i32 5)", "\"other\"(i32 5)"},
    {"\"tag\"(i32 5)", "\"tag\"(i32 6)"},
    {"\"tag\"(i32 5)", "\"tag\"(), \"tag\"(i32 5)"},
    {"[ \"tag\"(i32 5) ]", "nounwind [ \"tag\"(i32 5) ]"},
    {"asm \"\"", "asm sideeffect \"\""},
    {"asm \"\"", "asm alignstack \"\""},
    {"asm \"\"", "asm inteldialect \"\""},
    {"asm \"\"", "asm \"nop\""},
    {"\"r,!i\"", "\"m,!i\""},
    {"i32 1, label %left", "i32 3, label %left"},
    {"[ 4, %left ], [ 5, %next ]", "[ 5, %left ], [ 4, %next ]"},
    {"blockaddress(@all, %other)", "blockaddress(@all, %right)"},
    {"{ ptr, i32 } cleanup\n  resume", "{ ptr, i32 } catch ptr null\n  resume"},
    {"%switch = catchswitch within none [label %handler] unwind label %cleanup",
     "%switch = catchswitch within none [label %handler] unwind to caller"},
    {"cleanuppad within none []", "cleanuppad within none [i32 1]"},
    {"[ptr null, i32 64, ptr null]", "[ptr null, i32 8, ptr null]"},
    // metadata
    {"!named =", "!other ="},
    {"!\"text\"", "!\"word\""},
    {"!0 = !{", "!0 = distinct !{"},
    {"!0 = !{!\"text\", i32 3}", "!0 = !{!\"text\", i32 3, null}"},
};

// Call `check` with the sample after each of the edits, one at a time.
inline void each_edited_sample(const std::function<void(const std::string&)>& check) {
  for (const auto& [from, to] : edits) {
    std::string edited(sample);
    const auto place = edited.find(from);
    CAPTURE(std::string(from));
    CAPTURE(std::string(to));
    REQUIRE(place != std::string::npos);
    edited.replace(place, from.size(), to);
    check(edited);
  }
}

}  // namespace compiler_gym::tests
