import os
import sys

sys.path.insert(0, "/tmp/tw")
sys.path.insert(0, os.path.dirname(__file__))
import types

try:
    import pytest
except ImportError:
    m = types.ModuleType("pytest")
    m.fixture = lambda *a, **k: lambda f: f
    m.Metafunc = object
    sys.modules["pytest"] = m
from collections import Counter

import cupy as cp
import numpy as np
from conftest import KINDS, random_words
from tilewright.lowering.interpreter.numerics import *

SRC = r"""
typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
#define IDX int w=(blockIdx.x*blockDim.x+threadIdx.x)/32; if(w>=n) return; int l=threadIdx.x%32,g=l/4,t=l%4;
__device__ u32 pk(u16 a,u16 b){return (u32)a|((u32)b<<16);}
#define K16(NAME,INS) extern "C" __global__ void NAME(const u16*A,const u16*B,const u32*C,u32*D,int n){IDX \
 A+=w*256;B+=w*128;C+=w*128;D+=w*128; \
 u32 a0=pk(A[g*16+2*t],A[g*16+2*t+1]),a1=pk(A[(g+8)*16+2*t],A[(g+8)*16+2*t+1]),a2=pk(A[g*16+2*t+8],A[g*16+2*t+9]),a3=pk(A[(g+8)*16+2*t+8],A[(g+8)*16+2*t+9]); \
 u32 b0=pk(B[(2*t)*8+g],B[(2*t+1)*8+g]),b1=pk(B[(2*t+8)*8+g],B[(2*t+9)*8+g]); u32 d0,d1,d2,d3; \
 asm volatile(INS " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};":"=r"(d0),"=r"(d1),"=r"(d2),"=r"(d3):"r"(a0),"r"(a1),"r"(a2),"r"(a3),"r"(b0),"r"(b1),"r"(C[g*8+2*t]),"r"(C[g*8+2*t+1]),"r"(C[(g+8)*8+2*t]),"r"(C[(g+8)*8+2*t+1])); \
 D[g*8+2*t]=d0;D[g*8+2*t+1]=d1;D[(g+8)*8+2*t]=d2;D[(g+8)*8+2*t+1]=d3;}
K16(f16f32,"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
K16(bf16f32,"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
extern "C" __global__ void f16f16(const u16*A,const u16*B,const u16*C,u16*D,int n){IDX
 A+=w*256;B+=w*128;C+=w*128;D+=w*128;
 u32 a0=pk(A[g*16+2*t],A[g*16+2*t+1]),a1=pk(A[(g+8)*16+2*t],A[(g+8)*16+2*t+1]),a2=pk(A[g*16+2*t+8],A[g*16+2*t+9]),a3=pk(A[(g+8)*16+2*t+8],A[(g+8)*16+2*t+9]);
 u32 b0=pk(B[(2*t)*8+g],B[(2*t+1)*8+g]),b1=pk(B[(2*t+8)*8+g],B[(2*t+9)*8+g]); u32 d0,d1;
 asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};":"=r"(d0),"=r"(d1):"r"(a0),"r"(a1),"r"(a2),"r"(a3),"r"(b0),"r"(b1),"r"(pk(C[g*8+2*t],C[g*8+2*t+1])),"r"(pk(C[(g+8)*8+2*t],C[(g+8)*8+2*t+1])));
 D[g*8+2*t]=d0;D[g*8+2*t+1]=d0>>16;D[(g+8)*8+2*t]=d1;D[(g+8)*8+2*t+1]=d1>>16;}
extern "C" __global__ void tf32f32(const u32*A,const u32*B,const u32*C,u32*D,int n){IDX
 A+=w*128;B+=w*64;C+=w*128;D+=w*128; u32 d0,d1,d2,d3;
 asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};":"=r"(d0),"=r"(d1),"=r"(d2),"=r"(d3):"r"(A[g*8+t]),"r"(A[(g+8)*8+t]),"r"(A[g*8+t+4]),"r"(A[(g+8)*8+t+4]),"r"(B[t*8+g]),"r"(B[(t+4)*8+g]),"r"(C[g*8+2*t]),"r"(C[g*8+2*t+1]),"r"(C[(g+8)*8+2*t]),"r"(C[(g+8)*8+2*t+1]));
 D[g*8+2*t]=d0;D[g*8+2*t+1]=d1;D[(g+8)*8+2*t]=d2;D[(g+8)*8+2*t+1]=d3;}
#define F64(NAME,R) extern "C" __global__ void NAME(const u64*A,const u64*B,const u64*C,u64*D,int n){IDX \
 A+=w*32;B+=w*32;C+=w*64;D+=w*64; double d0,d1; \
 asm volatile("mma.sync.aligned.m8n8k4.row.col" R ".f64.f64.f64.f64 {%0,%1},{%2},{%3},{%4,%5};":"=d"(d0),"=d"(d1):"d"(__longlong_as_double(A[g*4+t])),"d"(__longlong_as_double(B[t*8+g])),"d"(__longlong_as_double(C[g*8+2*t])),"d"(__longlong_as_double(C[g*8+2*t+1]))); \
 D[g*8+2*t]=__double_as_longlong(d0);D[g*8+2*t+1]=__double_as_longlong(d1);}
F64(f64rn,".rn") F64(f64rz,".rz") F64(f64rm,".rm") F64(f64rp,".rp")
extern "C" __global__ void f64k16(const u64*A,const u64*B,const u64*C,u64*D,int n){IDX
 A+=w*256;B+=w*128;C+=w*128;D+=w*128; double a[8],b[4],d[4];
 for(int i=0;i<8;i++) a[i]=__longlong_as_double(A[(i%2?g+8:g)*16+(i/2)*4+t]);
 for(int i=0;i<4;i++) b[i]=__longlong_as_double(B[(i*4+t)*8+g]);
 for(int i=0;i<4;i++) d[i]=__longlong_as_double(C[(i/2?g+8:g)*8+2*t+i%2]);
 asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%0,%1,%2,%3};":"+d"(d[0]),"+d"(d[1]),"+d"(d[2]),"+d"(d[3]):"d"(a[0]),"d"(a[1]),"d"(a[2]),"d"(a[3]),"d"(a[4]),"d"(a[5]),"d"(a[6]),"d"(a[7]),"d"(b[0]),"d"(b[1]),"d"(b[2]),"d"(b[3]));
 for(int i=0;i<4;i++) D[(i/2?g+8:g)*8+2*t+i%2]=__double_as_longlong(d[i]);}
#define FM(NAME,T,BT,R,RG,TO,FROM) extern "C" __global__ void NAME(const BT*A,const BT*B,const BT*C,BT*D,int n){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return; T d; \
 asm volatile("fma" R " %0,%1,%2,%3;":"=" RG(d):RG(TO(A[i])),RG(TO(B[i])),RG(TO(C[i]))); D[i]=FROM(d);}
FM(fma64rn,double,u64,".rn.f64","d",__longlong_as_double,__double_as_longlong) FM(fma64rz,double,u64,".rz.f64","d",__longlong_as_double,__double_as_longlong) FM(fma64rm,double,u64,".rm.f64","d",__longlong_as_double,__double_as_longlong) FM(fma64rp,double,u64,".rp.f64","d",__longlong_as_double,__double_as_longlong)
FM(fma32rn,float,u32,".rn.f32","f",__uint_as_float,__float_as_uint) FM(fma32rz,float,u32,".rz.f32","f",__uint_as_float,__float_as_uint) FM(fma32rm,float,u32,".rm.f32","f",__uint_as_float,__float_as_uint) FM(fma32rp,float,u32,".rp.f32","f",__uint_as_float,__float_as_uint)
"""
mod = cp.RawModule(code=SRC, options=("--std=c++17",), backend="nvcc")
mod.compile()
print(cp.cuda.runtime.getDeviceProperties(0)["name"])


def launch(name, a, b, c, lanes=32):
    d = cp.zeros(c.shape, c.dtype)
    n = len(c) if lanes == 32 else c.size
    mod.get_function(name)(
        ((n * lanes + 127) // 128,),
        (128,),
        (cp.asarray(a), cp.asarray(b), cp.asarray(c), d, np.int32(n)),
    )
    return d.get()


rng = np.random.default_rng(7)


def report(label, got, want, show=4):
    bad = got != want
    if not bad.any():
        print("OK  ", label, got.size)
        return
    neg = np.array(1 << (got.itemsize * 8 - 1), got.dtype)
    zs = bad & ((got & ~neg) == 0) & ((want & ~neg) == 0)
    ex = [(hex(g), hex(x)) for g, x in zip(got[bad][:show].tolist(), want[bad][:show].tolist())]
    pairs = Counter(zip(got[bad].tolist(), want[bad].tolist())).most_common(4)
    print(
        "DIFF",
        label,
        "%d/%d zero-sign %d" % (bad.sum(), got.size, zs.sum()),
        "chip,model",
        ex,
        [(hex(p), hex(q), k) for (p, q), k in pairs],
    )


def gauss(name, shape):
    return encode(rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, shape), FORMATS[name])


B = 20000


def low(nm, s, kind):
    c0 = -63 if nm in ("bf16", "tf32") else -12 if nm == "f16" and len(s) and s[-1] != 8 else -130
    e = rng.integers(-10, 8, s) if kind == "low" else rng.integers(-3, 3, s)
    v = np.ldexp((rng.random(s) + 1) * rng.choice([-1, 1], s), c0 + e) * (rng.random(s) < 0.5)
    return encode(v, FORMATS[nm])



from tilewright.lowering.interpreter.numerics import fused_sum as fs
orig=fs._fused_sum; FL=[None]
def patched(v,e,l):
    return orig(v,e,(l[0],FL[0]))
fs._fused_sum=patched
B=3000
def sweep(label,fn,t,r,a,b,c,floors,F=25):
    got=launch(fn,a,b,c); out=[]
    for f in floors:
        FL[0]=f
        want=dot_add(a,b,c,a_type=t,b_type=t,c_type=r,d_type=r,model=FusedDotAdd(F,'x'))
        out.append((f,int((got!=want).sum())))
    print(label,got.size,out)
def prod(nm,shape,c0,spread,p):
    v=np.ldexp((rng.random(shape)+1)*rng.choice([-1,1],shape),c0+rng.integers(-spread,spread+1,shape))*(rng.random(shape)<p)
    return encode(v,FORMATS[nm])
for fn,t,(m,n,k) in (('bf16f32','bf16',(16,8,16)),('tf32f32','tf32',(16,8,8))):
    for c0,sp,p in ((-63,9,.5),(-65,4,.5),(-68,4,.9)):
        a,b=prod(t,(B,m,k),c0,sp,p),prod(t,(B,k,n),c0,sp,p)
        z=np.zeros((B,m,n),np.uint32)
        sweep(f'{fn} c=0 {c0} {sp}',fn,t,'f32',a,b,z,[-600,*range(-156,-124,2),*range(-137,-129,2)])
        one=z+1; sweep(f'{fn} c=denorm {c0} {sp}',fn,t,'f32',a,b,one,[-600,-150,-140,-136,-134,-133,-132,-131,-130,-128,-126])
B=20000
for c0,sp,p in ((-14,10,.9),(-12,4,.9),(-18,6,1)):
    a,b=prod('f16',(B,16,16),c0,sp,p),prod('f16',(B,16,8),c0,sp,p)
    z=np.zeros((B,16,8),np.uint16)
    sweep(f'f16f16 c=0 {c0} {sp}','f16f16','f16','f16',a,b,z,[-600,*range(-30,-12)])
    sweep(f'f16f16 c=denorm {c0} {sp}','f16f16','f16','f16',a,b,z+np.uint16(1),[-600,*range(-30,-12,2)])
    sweep(f'f16f32 c=0 {c0} {sp}','f16f32','f16','f32',a,b,np.zeros((B,16,8),np.uint32),[-600,-30,-28,-26,-24,-22,-20])
A=0x7FF80000000000AA; BB=0xFFF80000000000BB; C=0x7FF80000000000CC; O=0x3FF<<52; I=0x7FF<<52
for lab,x,y,z in (('ab',A,BB,0),('ac',A,O,C),('bc',O,BB,C),('abc',A,BB,C),('0*inf+c',0,I,C),('0*inf+c',I,0,C),('inf*nan',I,BB,0)):
    v=[np.array([q],np.uint64) for q in (x,y,z)]
    a=np.zeros((1,8,4),np.uint64); b=np.zeros((1,4,8),np.uint64); c=np.zeros((1,8,8),np.uint64); a[0,0,0]=x; b[0,0,0]=y; c[0,0,0]=z
    print(lab,'fma',hex(int(launch('fma64rn',*v,1)[0])),'dmma',hex(int(launch('f64rn',a,b,c)[0,0,0])))
    a[0,0,1]=0x7FF80000000000DD; b[0,1,0]=O
    print('  then another a','dmma',hex(int(launch('f64rn',a,b,c)[0,0,0])))
