import sys, time
import torch
sys.path.insert(0,'benchmarks')
import gemm_shapes as gs
from gemm_shapes import hopper_gemm as hg
import hopper_gemm_schedule as hs
from device_time import milliseconds
from gemm_gpu import launch_of
S=hs.schedule
def P(m,n,**k): return S(m,n,pairs=True,**k)
def T(m,n,**k): return S(m,n,teams=2,**k)
def X(m,n): return S(m,n,streamed=True)
V={
 (512,512,512):[S(64,32),P(64,32),S(64,24)],
 (1024,)*3:[S(64,128),S(128,64),P(64,128),P(128,64)],
 (2048,)*3:[S(128,256),S(128,128),P(128,256),P(128,128),T(128,128),T(64,256),X(128,256),X(128,192)],
 (4096,)*3:[S(128,256),P(128,256),X(128,256),T(128,128,pairs=True),T(64,256)],
 (8192,)*3:[S(128,256),S(128,192),P(128,256),X(128,256)],
 (16,4096,4096):[S(16,32),S(16,64),X(16,64),X(16,32)],
 (128,4096,4096):[S(64,64),S(128,64,2),P(64,64),P(64,64,),X(64,64),X(128,128),X(128,64),T(64,64)],
 (512,4096,4096):[S(128,128),P(128,128),X(128,256),X(128,128),X(128,192),P(128,120),S(128,120)],
 (2048,11008,4096):[S(128,168),X(128,256),X(128,192),P(128,168),P(128,256)],
 (4096,4096,14336):[S(128,256),P(128,256),X(128,256)],
 (8192,1024,8192):[S(128,256),P(128,256),X(128,256),T(128,128,pairs=True)],
}
F=[S(128,256),S(128,192),S(128,128),P(128,256),T(128,128),T(128,128,pairs=True),X(128,256)]
print(torch.cuda.get_device_name())
for element,(t,shapes) in gs.PROBLEMS.items():
    for shape in shapes:
        m,n,k=shape
        a,b=(torch.randn(r,k,device='cuda').to(getattr(torch,t)) for r in (m,n))
        c=torch.empty(m,n,device='cuda',dtype=torch.bfloat16)
        ref=a.float()@b.float().t(); work=2*m*n*k/1e9
        launches={}
        for own in V[shape] if element=='bf16' else F:
            try:
                kern=hg.compiled(own,element); grid=hg.grid_of(own,m,n)
                args=[a,b,c]
                if own.streamed: args+=[torch.zeros(grid[0],own.height*own.n,device='cuda'),torch.zeros(grid[0],dtype=torch.int32,device='cuda')]
                c.fill_(float('nan'))
                l=launch_of(kern,'gemm',args,grid,kern.entry().block[0]); 
                for _ in range(3): l()
                err=(torch.linalg.norm(c.float()-ref)/torch.linalg.norm(ref)).item()
                if err<.02: launches[f"{own}"]=l
                else: print(own,'WRONG',err)
            except Exception as e: print(own,type(e).__name__,str(e)[:150])
        for i,l in enumerate(gs.cublas(element,a,b,c)): launches[f'cublas{i}']=l
        times={x:[] for x in launches}
        for _ in range(2 if m*n*k>1e11 else 3):
            for x,l in launches.items(): times[x].append(milliseconds(l)*1e3)
        lib=min(min(v) for x,v in times.items() if 'cublas' in x)
        print(element,shape,' '.join(f"{x}: {sorted(v)[len(v)//2]:.2f}({lib/min(v):.3f})" for x,v in times.items()))
        sys.stdout.flush()
