import sys, math
import torch
sys.path.insert(0,'benchmarks')
import gemm_shapes as gs
from gemm_shapes import hopper_gemm as hg
from device_time import milliseconds
from torch.profiler import profile, ProfilerActivity
from gemm_gpu import launch_of
EXTRA={
 (512,512,512):[(64,32),(64,64),(64,64,2),(128,32),(64,128,4),(64,64,4)],
 (1024,)*3:[(128,64),(64,128),(128,128,2),(128,64,2),(64,128,2)],
 (2048,)*3:[(128,256),(128,248),(128,128),(128,192)],
 (4096,)*3:[(128,256),(128,192),(128,248),(128,128)],
 (8192,)*3:[(128,256),(128,192),(128,248)],
 (16,4096,4096):[(16,32),(16,64,2),(16,128,4),(16,64),(64,64,2),(16,128,2)],
 (128,4096,4096):[(64,64),(128,32),(128,64,2),(64,128,2),(64,128,4),(128,128,4),(32,128),(128,64),(64,64,2)],
 (512,4096,4096):[(128,128),(128,120),(128,256,2),(128,64),(64,256),(128,192)],
 (2048,11008,4096):[(128,168),(128,256),(128,192)],
 (4096,4096,14336):[(128,256),(128,192),(128,248)],
 (8192,1024,8192):[(128,256),(128,192),(128,248)],
}
print(torch.cuda.get_device_name())
def names(f):
    f(); torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        f(); torch.cuda.synchronize()
    return [e.name[:110] for e in p.events() if e.device_type.name=='CUDA']
for element,(t,shapes) in gs.PROBLEMS.items():
    for shape in shapes:
        m,n,k=shape
        a,b=(torch.randn(r,k,device='cuda').to(getattr(torch,t)) for r in (m,n))
        c=torch.empty(m,n,device='cuda',dtype=torch.bfloat16)
        ref=a.float()@b.float().t(); work=2*m*n*k/1e9
        tiles=EXTRA[shape] if element=='bf16' else [(128,256),(128,192),(128,128)]
        out=[]
        for tile in tiles:
            try:
                own=hg.schedule(*tile); kern=hg.compiled(own,element)
                c.fill_(float('nan'))
                ms=milliseconds(launch_of(kern,'gemm',[a,b,c],hg.grid_of(own,m,n),kern.entry().block[0]))
                err=torch.linalg.norm(c.float()-ref)/torch.linalg.norm(ref)
                out.append(f"{own}:{ms*1e3:.2f}({hg.microseconds(own,m,n,k,element):.1f}){'' if err<.02 else ' WRONG %g'%err}")
            except Exception as e: out.append(f"{tile} {type(e).__name__} {str(e)[:80]}")
        lib=[]
        for l in gs.cublas(element,a,b,c):
            ms=milliseconds(l); lib.append((round(ms*1e3,2),names(l)))
        print(element,shape,' '.join(out)); 
        for l in lib: print('     cublas',l)
        sys.stdout.flush()
