// RUN: tilewright-opt %s -p cute-to-base --split-input-file | filecheck %s
// RUN: tilewright-opt %s -p cute-to-base --split-input-file | tilewright-opt --split-input-file -p reconcile-unrealized-casts | filecheck %s

// Every kind of value in a signature.
// CHECK:      func.func private @tuples(!llvm.struct<()>, i32, !llvm.struct<(i32, i64)>, i32, !llvm.struct<()>) -> ()
// CHECK-NEXT: func.func private @layouts(!llvm.struct<(!llvm.struct<()>, !llvm.struct<()>)>, !llvm.struct<(!llvm.struct<(i32, i32)>, i32)>) -> ()
// CHECK-NEXT: func.func private @composed(!llvm.struct<(!llvm.struct<(i32, i32)>, i64, !llvm.struct<()>)>) -> !llvm.struct<()>
// CHECK-NEXT: func.func private @tiles(!llvm.struct<()>, !llvm.struct<(i32, i32)>, !llvm.struct<(!llvm.struct<(i32, !llvm.struct<()>)>, !llvm.struct<(!llvm.struct<()>, i32)>)>) -> ()
// CHECK-NEXT: func.func private @others(memref<4xf32, !cute.layout<"4:2">>, (i32) -> i64) -> index
func.func private @tuples(!cute.shape<"(4,8)">, !cute.int_tuple<"(?,8)">, !cute.shape<"(?,(2,?{i64}))">, !cute.stride<"(1@0,?@1)">, !cute.coord<"(_,0)">)
func.func private @layouts(!cute.layout<"(4,8):(1,4)">, !cute.layout<"(?,?):(1,?)">)
func.func private @composed(!cute.composed_layout<"S<2,3,3> o ?{i64} o (?,8):(?,1)">) -> !cute.swizzle<"S<2,3,3>">
func.func private @tiles(!cute.tile<"[_;_]">, !cute.tile<"[?:?;_]">, !cute.tile<"[[?:1;_];4:?]">)
func.func private @others(memref<4xf32, !cute.layout<"4:2">>, (!cute.shape<"?">) -> !cute.shape<"?{i64}">) -> index

// -----

// What is known is nothing.
// CHECK-LABEL: func.func @known
// CHECK-NEXT:    %s = ub.poison : !llvm.struct<()>
// CHECK-NEXT:    %l = ub.poison : !llvm.struct<(!llvm.struct<()>, !llvm.struct<()>)>
// CHECK-NEXT:    func.return %s, %l
func.func @known() -> (!cute.shape<"(4,8)">, !cute.layout<"4:1">) {
  %s = cute.make_shape() : () -> !cute.shape<"(4,8)">
  %l = cute.static : !cute.layout<"4:1">
  func.return %s, %l : !cute.shape<"(4,8)">, !cute.layout<"4:1">
}

// -----

// CHECK-LABEL: func.func @made
// CHECK-NEXT:    %0 = ub.poison : !llvm.struct<(i32, i64)>
// CHECK-NEXT:    %1 = llvm.insertvalue %n, %0[0] : !llvm.struct<(i32, i64)>
// CHECK-NEXT:    %s = llvm.insertvalue %m, %1[1] : !llvm.struct<(i32, i64)>
// CHECK-NEXT:    %2 = ub.poison : !llvm.struct<(!llvm.struct<(i32, i64)>, i32)>
// CHECK-NEXT:    %3 = llvm.insertvalue %s, %2[0]
// CHECK-NEXT:    %l = llvm.insertvalue %n, %3[1]
// CHECK-NEXT:    %w = ub.poison : !llvm.struct<()>
// CHECK-NEXT:    %4 = ub.poison : !llvm.struct<(!llvm.struct<(!llvm.struct<(i32, i64)>, i32)>, i64, !llvm.struct<()>)>
// CHECK-NEXT:    %5 = llvm.insertvalue %l, %4[0]
// CHECK-NEXT:    %6 = llvm.insertvalue %m, %5[1]
// CHECK-NEXT:    %c = llvm.insertvalue %w, %6[2]
// CHECK-NEXT:    func.return %c
func.func @made(%n: i32, %m: i64) -> !cute.composed_layout<"S<2,3,3> o ?{i64} o (?,?{i64}):(?,1)"> {
  %s = cute.make_shape(%n, %m) : (i32, i64) -> !cute.shape<"(?,?{i64})">
  %d = cute.make_stride(%n) : (i32) -> !cute.stride<"(?,1)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?{i64})">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,?{i64}):(?,1)">
  %w = cute.static : !cute.swizzle<"S<2,3,3>">
  %o = cute.make_int_tuple(%m) : (i64) -> !cute.int_tuple<"?{i64}">
  %c = cute.make_composed_layout(%w, %o, %l) : (!cute.swizzle<"S<2,3,3>">, !cute.int_tuple<"?{i64}">, !cute.layout<"(?,?{i64}):(?,1)">) -> !cute.composed_layout<"S<2,3,3> o ?{i64} o (?,?{i64}):(?,1)">
  func.return %c : !cute.composed_layout<"S<2,3,3> o ?{i64} o (?,?{i64}):(?,1)">
}

// -----

// Leaves that are int_tuples, one of them known.
// CHECK-LABEL: func.func @from_int_tuples
// CHECK-NEXT:    %0 = arith.constant 3 : i32
// CHECK-NEXT:    %1 = ub.poison : !llvm.struct<(!llvm.struct<(i32, !llvm.struct<()>)>, !llvm.struct<(i8, i8)>)>
// CHECK-NEXT:    %2 = llvm.insertvalue %0, %1[0, 0]
// CHECK-NEXT:    %3 = llvm.insertvalue %b, %2[1, 0]
// CHECK-NEXT:    %t = llvm.insertvalue %b, %3[1, 1]
func.func @from_int_tuples(%a: !cute.int_tuple<"3">, %b: !cute.int_tuple<"?{i8}">) -> !cute.tile<"[?:1;?{i8}:?{i8}]"> {
  %t = cute.make_tile(%a, %b, %b) : (!cute.int_tuple<"3">, !cute.int_tuple<"?{i8}">, !cute.int_tuple<"?{i8}">) -> !cute.tile<"[?:1;?{i8}:?{i8}]">
  func.return %t : !cute.tile<"[?:1;?{i8}:?{i8}]">
}

// -----

// All numbers in order, the known ones as constants, none below 32 bits; a basis with its modes.
// CHECK-LABEL: func.func @scalars
// CHECK-NEXT:    %0 = llvm.extractvalue %l[0, 0]
// CHECK-NEXT:    %a = arith.extsi %0 : i8 to i32
// CHECK-NEXT:    %b = arith.constant 5000000000 : i64
// CHECK-NEXT:    %c = llvm.extractvalue %l[0, 1]
// CHECK-NEXT:    %d = llvm.extractvalue %l[1]
// CHECK-NEXT:    %e = arith.constant 0 : i32
// CHECK-NEXT:    %f = arith.constant 1 : i32
// CHECK-NEXT:    %g = arith.constant 7 : i32
// CHECK-NEXT:    %h = arith.constant 1 : i32
// CHECK-NEXT:    %zero = arith.constant 0 : i32
// CHECK-NEXT:    %i = arith.constant 3 : i32
// CHECK-NEXT:    %j = arith.constant 4 : i32
// CHECK-NEXT:    %k = arith.constant -3 : i32
// CHECK-NEXT:    func.return %c, %d, %x
func.func @scalars(%l: !cute.layout<"(?{i8},5000000000,?{i64}):(?@1@0,7@1,0)">, %w: !cute.swizzle<"S<3,4,-3>">, %x: !cute.stride<"(?,4)">) -> (i64, i32, i32) {
  %a, %b, %c, %d, %e, %f, %g, %h, %zero = cute.get_scalars(%l) : !cute.layout<"(?{i8},5000000000,?{i64}):(?@1@0,7@1,0)">
  %i, %j, %k = cute.get_scalars(%w) : !cute.swizzle<"S<3,4,-3>">
  %y = cute.get_scalars<{only_dynamic}> (%x) : !cute.stride<"(?,4)">
  func.return %c, %d, %y : i64, i32, i32
}

// -----

// Of a composed layout the outer one first, then the offset.
// CHECK-LABEL: func.func @composed_scalars
// CHECK-NEXT:    %a = llvm.extractvalue %c[0, 0]
// CHECK-NEXT:    %b = llvm.extractvalue %c[1]
// CHECK-NEXT:    %d = llvm.extractvalue %c[2, 1]
func.func @composed_scalars(%c: !cute.composed_layout<"(4,8):(?,1) o ?{i64} o (?,8):(1,4)">) -> (i32, i64, i32) {
  %a, %b, %d = cute.get_scalars<{only_dynamic}> (%c) : !cute.composed_layout<"(4,8):(?,1) o ?{i64} o (?,8):(1,4)">
  func.return %a, %b, %d : i32, i64, i32
}

// -----

// Regions, blocks and calls.
// CHECK-LABEL: func.func @flow
// CHECK-SAME:    %a: !llvm.struct<(i32, i32)>
// CHECK:         %r = scf.if %c -> (!llvm.struct<(i32, i32)>) {
// CHECK:         %s = scf.for %{{.+}} iter_args(%x = %r) -> (!llvm.struct<(i32, i32)>) {
// CHECK:           scf.yield %x : !llvm.struct<(i32, i32)>
// CHECK:         cf.br ^[[NEXT:.+]](%s : !llvm.struct<(i32, i32)>)
// CHECK:         ^[[NEXT]](%t: !llvm.struct<(i32, i32)>):
// CHECK:         %u = func.call @callee(%t) : (!llvm.struct<(i32, i32)>) -> !llvm.struct<(i32, i32)>
// CHECK:         func.return %u : !llvm.struct<(i32, i32)>
!l = !cute.layout<"(?,4):(?,1)">
func.func private @callee(!l) -> !l
func.func @flow(%c: i1, %a: !l, %b: !l, %n: index) -> !l {
  %r = scf.if %c -> (!l) {
    scf.yield %a : !l
  } else {
    scf.yield %b : !l
  }
  %z = arith.constant 0 : index
  %s = scf.for %i = %z to %n step %n iter_args(%x = %r) -> (!l) {
    scf.yield %x : !l
  }
  cf.br ^next(%s : !l)
^next(%t: !l):
  %u = func.call @callee(%t) : (!l) -> !l
  func.return %u : !l
}

// -----

// Casts that have become casts to the same type go; others are somebody else's.
// CHECK-LABEL: func.func @casts
// CHECK-NEXT:    %s = llvm.extractvalue %a[0]
// CHECK-NEXT:    %t = llvm.extractvalue %a[1]
// CHECK-NEXT:    %u = builtin.unrealized_conversion_cast %s : i32 to index
// CHECK-NEXT:    func.return %u
func.func @casts(%a: !llvm.struct<(i32, i32)>) -> index {
  %b = builtin.unrealized_conversion_cast %a : !llvm.struct<(i32, i32)> to !cute.shape<"(?,?)">
  %s, %t = cute.get_scalars<{only_dynamic}> (%b) : !cute.shape<"(?,?)">
  %u = builtin.unrealized_conversion_cast %s : i32 to index
  func.return %u : index
}

// -----

// On the host, C's printf: a format for each print, after those that are there.
// CHECK:       llvm.mlir.global internal constant @printfFormat_0("mine")
// CHECK-NEXT:  llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK-NEXT:  llvm.mlir.global internal constant @printfFormat_1("(%d,4):(%lld,1)\0A\00")
// CHECK-SAME:    : !llvm.array<17 x i8>
// CHECK-NEXT:  llvm.mlir.global internal constant @printfFormat_2("[(%d,1):(1,0);_]\0A\00")
// CHECK-NEXT:  llvm.mlir.global internal constant @printfFormat_3("(4,%d):(1,%d) o %d o (6,%d):(8,1)\0A\00")
// CHECK-NEXT:  llvm.mlir.global internal constant @printfFormat_4("S<3,4,3>\0A\00")
// CHECK-LABEL: func.func @host
// CHECK-NEXT:    %0 = llvm.extractvalue %l[0]
// CHECK-NEXT:    %1 = llvm.extractvalue %l[1]
// CHECK-NEXT:    %2 = llvm.mlir.addressof @printfFormat_1 : !llvm.ptr
// CHECK-NEXT:    %3 = llvm.getelementptr %2[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<17 x i8>
// CHECK-NEXT:    %4 = llvm.call @printf(%3, %0, %1) vararg(!llvm.func<i32 (!llvm.ptr, ...)>) : (!llvm.ptr, i32, i64) -> i32
// CHECK:         %[[T:.+]] = arith.extsi %{{.+}} : i16 to i32
// CHECK:         llvm.call @printf(%{{.+}}, %[[T]])
// CHECK:         %[[OUTER:.+]] = llvm.extractvalue %c[0]
// CHECK-NEXT:    %[[OFFSET:.+]] = llvm.extractvalue %c[1]
// CHECK-NEXT:    %[[INNER:.+]] = llvm.extractvalue %c[2]
// CHECK-NEXT:    %[[A:.+]] = llvm.extractvalue %[[INNER]][0]
// CHECK-NEXT:    %[[B:.+]] = llvm.extractvalue %[[INNER]][1]
// CHECK-NEXT:    %[[D:.+]] = llvm.extractvalue %[[OUTER]][0]
// CHECK:         llvm.call @printf(%{{.+}}, %[[A]], %[[B]], %[[OFFSET]], %[[D]])
// CHECK:         llvm.call @printf(%{{.+}}) vararg
llvm.mlir.global internal constant @printfFormat_0("mine") : !llvm.array<4 x i8>
llvm.func @printf(!llvm.ptr, ...) -> i32
func.func @host(%l: !cute.layout<"(?,4):(?{i64},1)">, %t: !cute.tile<"[(?{i16},1):(1,0);_]">, %c: !cute.composed_layout<"(4,?):(1,?) o ? o (6,?):(8,1)">, %w: !cute.swizzle<"S<3,4,3>">) {
  cute.print(%l) : !cute.layout<"(?,4):(?{i64},1)">
  cute.print(%t) : !cute.tile<"[(?{i16},1):(1,0);_]">
  cute.print(%c) : !cute.composed_layout<"(4,?):(1,?) o ? o (6,?):(8,1)">
  cute.print(%w) : !cute.swizzle<"S<3,4,3>">
  func.return
}

// -----

// A module of its own.
// CHECK:       builtin.module {
// CHECK-NEXT:    func.func private @outside
// CHECK-NEXT:    builtin.module {
// CHECK-NEXT:      llvm.func @printf
func.func private @outside()
builtin.module {
  func.func @inner(%s: !cute.shape<"?">) {
    cute.print(%s) : !cute.shape<"?">
    func.return
  }
}

// -----

// On the GPU, gpu.printf.
// CHECK:       builtin.module {
// CHECK-NEXT:  func.func @kernel
// CHECK-NEXT:    gpu.printf "(%d,4)\0A", %n : i32
// CHECK:       gpu.func @in_module
// CHECK-NEXT:    ub.poison
// CHECK-NEXT:    gpu.printf "4\0A"
// CHECK:       gpu.launch
// CHECK-NEXT:    gpu.printf "%lld\0A", %n : i64
func.func @kernel(%n: i32) attributes {gpu.kernel} {
  %s = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,4)">
  cute.print(%s) : !cute.shape<"(?,4)">
  func.return
}
gpu.module @kernels {
  gpu.func @in_module() {
    %s = cute.static : !cute.shape<"4">
    cute.print(%s) : !cute.shape<"4">
    gpu.return
  }
}
func.func @launching(%n: !cute.shape<"?{i64}">) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    cute.print(%n) : !cute.shape<"?{i64}">
    gpu.terminator
  }
  func.return
}
