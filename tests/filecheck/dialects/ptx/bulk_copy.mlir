// RUN: tilewright-opt --print-op-generic %s | tilewright-opt | tilewright-opt | filecheck %s

// CHECK-LABEL: ptx.entry @boxes(%map: tensormap, %a: u32, %c: u32, %hint: u64, %mask: u16) {
// CHECK-NEXT:    ptx.prefetch.tensormap %map
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.load %a, %map, [%c, %c], %a
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.load %a, %map, [%c], %a cache_hint %hint
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.store %map, [%c, %c, %c, %c, %c], %a
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.store %map, [%c], %a cache_hint %hint
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.load %a, %map, [%c], %a multicast %mask cache_hint %hint
// CHECK-NEXT:    ptx.cp.async.bulk.tensor.load %a, %map, [%c], %a pair cache_hint %hint
// CHECK-NEXT:    ptx.cp.reduce.async.bulk.tensor "add" %map, [%c, %c], %a
// CHECK-NEXT:    ptx.cp.reduce.async.bulk.tensor "xor" %map, [%c], %a cache_hint %hint
// CHECK-NEXT:    ptx.cp.async.bulk.commit_group
// CHECK-NEXT:    ptx.cp.async.bulk.wait_group 0
// CHECK-NEXT:    ptx.cp.async.bulk.wait_group 1 read
ptx.entry @boxes(%map: tensormap, %a: u32, %c: u32, %hint: u64, %mask: u16) {
  ptx.prefetch.tensormap %map
  ptx.cp.async.bulk.tensor.load %a, %map, [%c, %c], %a
  ptx.cp.async.bulk.tensor.load %a, %map, [%c], %a cache_hint %hint
  ptx.cp.async.bulk.tensor.store %map, [%c, %c, %c, %c, %c], %a
  ptx.cp.async.bulk.tensor.store %map, [%c], %a cache_hint %hint
  ptx.cp.async.bulk.tensor.load %a, %map, [%c], %a multicast %mask cache_hint %hint
  ptx.cp.async.bulk.tensor.load %a, %map, [%c], %a pair cache_hint %hint
  ptx.cp.reduce.async.bulk.tensor "add" %map, [%c, %c], %a
  ptx.cp.reduce.async.bulk.tensor "xor" %map, [%c], %a cache_hint %hint
  ptx.cp.async.bulk.commit_group
  ptx.cp.async.bulk.wait_group 0
  ptx.cp.async.bulk.wait_group 1 read
  ptx.ret
}
