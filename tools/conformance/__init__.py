"""The judges of `tilewright conformance`: ptxas and the PTX ISA on every tensor-core instruction
(`lattice`, of families that span products of qualifiers), and what a chip left in memory
(`records`)."""
