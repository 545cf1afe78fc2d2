#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>
#include <stdio.h>
#include <limits.h>
using namespace nvcuda;
#define K extern "C" __global__ void

K k_saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__device__ float warp_sum(float v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
K k_reduce_sum(float *out, const float *x, int n) {
  __shared__ float part[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  v = warp_sum(v);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}
K k_reduce_max_int(int *out, const int *x, int n) {
  int v = INT_MIN;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v = max(v, x[i]);
  v = __reduce_max_sync(0xffffffffu, v);
  if ((threadIdx.x & 31) == 0) atomicMax(out, v);
}
K k_scan_block(int *out, const int *x, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t < n ? x[t] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t < n) out[t] = s[t];
}
K k_scan_warp(unsigned *out, const unsigned *x) {
  unsigned v = x[threadIdx.x], lane = threadIdx.x & 31;
  for (int d = 1; d < 32; d *= 2) {
    unsigned w = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += w;
  }
  out[threadIdx.x] = v;
}
K k_histogram(unsigned *bins, const unsigned char *x, int n) {
  __shared__ unsigned h[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) h[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) if (h[i]) atomicAdd(&bins[i], h[i]);
}
K k_bitonic_sort(unsigned *x) {
  extern __shared__ unsigned s[];
  int t = threadIdx.x, n = blockDim.x;
  s[t] = x[t];
  __syncthreads();
  for (int k = 2; k <= n; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      int o = t ^ j;
      if (o > t) {
        unsigned a = s[t], b = s[o];
        if (((t & k) == 0) == (a > b)) { s[t] = b; s[o] = a; }
      }
      __syncthreads();
    }
  x[t] = s[t];
}
K k_radix_pass(unsigned *out, const unsigned *x, int bit) {
  __shared__ int s[256];
  int t = threadIdx.x;
  unsigned v = x[t];
  int zero = !((v >> bit) & 1);
  unsigned m = __ballot_sync(0xffffffffu, zero);
  int before = __popc(m & ((1u << (t & 31)) - 1));
  if ((t & 31) == 0) s[t >> 5] = __popc(m);
  __syncthreads();
  int offset = 0, total = 0;
  for (int w = 0; w < 8; w++) { if (w < (t >> 5)) offset += s[w]; total += s[w]; }
  int zeros = offset + before;
  out[zero ? zeros : total + t - zeros] = v;
}
K k_stencil2d(float *out, const float *in, int w, int h) {
  __shared__ float t[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 18; j += 16) for (int i = threadIdx.x; i < 18; i += 16) {
    int gx = min(max((int)blockIdx.x * 16 + i - 1, 0), w - 1), gy = min(max((int)blockIdx.y * 16 + j - 1, 0), h - 1);
    t[j][i] = in[gy * w + gx];
  }
  __syncthreads();
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  if (x < w && y < h) out[y * w + x] = 0.25f * (t[j][i-1] + t[j][i+1] + t[j-1][i] + t[j+1][i]) - t[j][i];
}
K k_stencil3d(double *out, const double *in, int n) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  auto at = [&](int a, int b, int c) { return (unsigned)a < n && (unsigned)b < n && (unsigned)c < n ? in[(c * n + b) * n + a] : 0.0; };
  if (x < n) out[(z * n + y) * n + x] = at(x-1,y,z) + at(x+1,y,z) + at(x,y-1,z) + at(x,y+1,z) + at(x,y,z-1) + at(x,y,z+1) - 6.0 * at(x,y,z);
}
K k_nbody(float4 *acc, const float4 *pos, int n) {
  extern __shared__ float4 sp[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = pos[i];
  float ax = 0, ay = 0, az = 0;
  for (int b = 0; b < n; b += blockDim.x) {
    sp[threadIdx.x] = pos[b + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < blockDim.x; j++) {
      float dx = sp[j].x - p.x, dy = sp[j].y - p.y, dz = sp[j].z - p.z;
      float r2 = dx * dx + dy * dy + dz * dz + 0.01f, inv = rsqrtf(r2), f = sp[j].w * inv * inv * inv;
      ax += dx * f; ay += dy * f; az += dz * f;
    }
    __syncthreads();
  }
  acc[i] = make_float4(ax, ay, az, sqrtf(ax * ax + ay * ay + az * az));
}
__device__ uint32_t xorshift(uint32_t &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__device__ uint4 philox(uint4 c, uint2 k) {
  for (int r = 0; r < 10; r++) {
    uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
    k.x += 0x9E3779B9u; k.y += 0xBB67AE85u;
  }
  return c;
}
K k_philox_fill(uint4 *out, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = philox(make_uint4(i, 0, 0, 0), make_uint2((unsigned)seed, (unsigned)(seed >> 32)));
}
K k_monte_carlo_pi(unsigned long long *hits, int trials) {
  uint32_t s = 1234567u + 977u * (blockIdx.x * blockDim.x + threadIdx.x);
  unsigned n = 0;
  for (int i = 0; i < trials; i++) {
    float x = xorshift(s) * 2.3283064e-10f, y = xorshift(s) * 2.3283064e-10f;
    if (x * x + y * y < 1.f) n++;
  }
  n = __reduce_add_sync(0xffffffffu, n);
  if ((threadIdx.x & 31) == 0) atomicAdd(hits, (unsigned long long)n);
}
K k_lcg64(unsigned long long *out, unsigned long long a, int n) {
  unsigned long long s = out[threadIdx.x];
  for (int i = 0; i < n; i++) { s = s * a + 1442695040888963407ull; s ^= __brevll(s) >> 7; s = (s << 13) | (s >> 51); }
  out[threadIdx.x] = s + __popcll(s) + __clzll(s) + __ffsll(s) + __umul64hi(s, a);
}
K k_transpose(float *out, const float *in, int n) {
  __shared__ float t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) t[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];
}
K k_matmul_tiled(float *c, const float *a, const float *b, int n) {
  __shared__ float sa[16][16], sb[16][16];
  int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int k = 0; k < n; k += 16) {
    sa[threadIdx.y][threadIdx.x] = a[r * n + k + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + q];
    __syncthreads();
    for (int j = 0; j < 16; j++) s += sa[threadIdx.y][j] * sb[j][threadIdx.x];
    __syncthreads();
  }
  c[r * n + q] = s;
}
K k_matmul_wmma(float *c, const half *a, const half *b, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * n + k, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}
K k_mma_asm(float *c, const uint32_t *a, const uint32_t *b) {
  int l = threadIdx.x;
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a[l]), "r"(a[l+32]), "r"(a[l+64]), "r"(a[l+96]), "r"(b[l]), "r"(b[l+32]));
  c[l*4] = d0; c[l*4+1] = d1; c[l*4+2] = d2; c[l*4+3] = d3;
}
K k_cp_async_copy(float4 *out, const float4 *in, int n) {
  __shared__ __align__(16) float4 s[2][64];
  int t = threadIdx.x;
  unsigned p0 = (unsigned)__cvta_generic_to_shared(&s[0][t]), p1 = (unsigned)__cvta_generic_to_shared(&s[1][t]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;" :: "r"(p0), "l"(in + t) : "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;" :: "r"(p1), "l"(in + 64 + t) : "memory");
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  float4 v = s[0][63 - t];
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float4 w = s[1][63 - t];
  out[t] = make_float4(v.x + w.x, v.y * w.y, v.z - w.z, v.w / w.w);
}
K k_half_math(half2 *out, const half2 *x, const half2 *y, int n) {
  int i = threadIdx.x;
  if (i < n) {
    half2 a = x[i], b = y[i];
    half2 c = __hfma2(a, b, __hadd2(a, b));
    c = __hmax2(c, __hsub2(a, __hmul2(b, b)));
    c = __hmul2(c, h2rcp(__hadd2(__habs2(b), __float2half2_rn(1.f))));
    out[i] = __hgt2(a, b).x > __float2half(0.f) ? c : __hneg2(c);
  }
}
K k_bf16_math(__nv_bfloat162 *out, const __nv_bfloat162 *x, const __nv_bfloat162 *y) {
  int i = threadIdx.x;
  __nv_bfloat162 c = __hfma2(x[i], y[i], x[i]);
  float2 f = __bfloat1622float2(c);
  out[i] = __floats2bfloat162_rn(f.x * 1.5f, f.y - 0.5f);
  out[i] = __hmin2(out[i], __hadd2(x[i], y[i]));
}
K k_math_fast(float *out, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = x[i]; out[i] = __sinf(v) + __cosf(v) * __expf(-v) + __logf(fabsf(v) + 1.f) + __fdividef(v, 3.7f) + __powf(fabsf(v), 0.3f); }
}
K k_math_precise(float *out, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = x[i]; out[i] = sinf(v) + expf(v * 0.1f) + logf(fabsf(v) + 1e-3f) + sqrtf(fabsf(v)) / (1.f + v * v) + tanhf(v) + erff(v) + cbrtf(v); }
}
K k_math_double(double *out, const double *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { double v = x[i]; out[i] = exp(-v * v) + log(fabs(v) + 1e-9) + sqrt(fabs(v)) / (2.0 + v) + sin(v) + fma(v, v, 1.0 / (v + 10.)); }
}
K k_int_ops(int *out, const int *x, const int *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  int a = x[i], b = y[i], r = 0;
  r += a / (b | 1); r ^= a % (b | 1); r += __mulhi(a, b); r ^= (int)__umulhi(a, b);
  r += __byte_perm(a, b, 0x2517); r ^= __funnelshift_l(a, b, 7); r += __funnelshift_rc(a, b, b & 63);
  r ^= __dp4a(a, b, r); r += __dp2a_lo(a, b, r); r ^= __sad(a, b, 3u); r += __usad(a, b, 5u);
  r ^= __brev(a) + __clz(b) + __ffs(a) + __popc(b); r += abs(a) + min(a, b) - max(a, b);
  r ^= __vadd4(a, b) + __vmaxs2(a, b); r += (a >> 3) + ((unsigned)b >> 5) + (a << 4); r += __mul24(a, b) + __umul24(a, b);
  r += (short)a * (short)b + (unsigned char)a; r ^= (int)((long long)a * b >> 17); r += __hadd(a, b) + __rhadd(a, b);
  out[i] = r;
}
K k_long_ops(long long *out, const long long *x, const long long *y) {
  int i = threadIdx.x;
  long long a = x[i], b = y[i];
  out[i] = a / (b | 1) + a % (b | 3) + __mul64hi(a, b) + (a >> (b & 63)) + (long long)((unsigned long long)b / 7) + min(a, b) + (a < b ? a ^ b : a & ~b);
}
K k_conversions(double *out, const float *x, const int *y) {
  int i = threadIdx.x;
  float v = x[i]; int k = y[i];
  double s = (int)v + (unsigned)fabsf(v) + (long long)v + (short)k + (unsigned char)k + (float)k + (double)(unsigned)k;
  s += __float2int_rn(v) + __float2int_ru(v) + __float2int_rd(v) + __half2float(__float2half(v)) + rintf(v) + floorf(v) + ceilf(v) + truncf(v);
  s += __double2float_rz((double)v * 1.1) + __int_as_float(k & 0x3fffffff) + (float)(long long)k * 3 + __saturatef(v) + (int8_t)k;
  out[i] = s;
}
K k_warp_ops(int *out, const int *x) {
  int i = threadIdx.x, v = x[i];
  unsigned any = __any_sync(0xffffffffu, v > 100), all = __all_sync(0xffffffffu, v > -1000), b = __ballot_sync(0xffffffffu, v & 1);
  unsigned m = __match_any_sync(0xffffffffu, v & 7);
  int r = __reduce_or_sync(0xffffffffu, v) ^ __reduce_xor_sync(0xffffffffu, v) ^ __reduce_min_sync(0xffffffffu, v);
  int down = __shfl_down_sync(0xffffffffu, v, 3, 16), idx = __shfl_sync(0xffffffffu, v, v & 31);
  if (v & 2) r += __popc(__activemask());
  out[i] = any + all * 2 + b + m + r + down + idx;
}
K k_divergent(int *out, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i]; int steps = 0;
  while (v != 1 && steps < 200) { v = v & 1 ? 3 * v + 1 : v >> 1; steps++; }
  out[i] = steps;
}
K k_switch_table(int *out, const int *x) {
  int v = x[threadIdx.x], r;
  switch (v & 15) {
    case 0: r = v * 3; break; case 1: r = v ^ 77; break; case 2: r = v / 5; break; case 3: r = v % 11; break;
    case 4: r = -v; break; case 5: r = v << 3; break; case 6: r = v >> 2; break; case 7: r = ~v; break;
    case 8: r = v + 1000; break; case 9: r = v & 0xff00; break; case 10: r = __popc(v); break; default: r = 42;
  }
  out[threadIdx.x] = r;
}
__constant__ float coefficients[8] = {1.f, -0.5f, 0.25f, -0.125f, 3.f, 7.5f, -2.f, 0.1f};
__device__ int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
K k_constant_poly(float *out, const float *x) {
  float v = x[threadIdx.x], s = 0;
  for (int k = 0; k < 8; k++) s = s * v + coefficients[k];
  out[threadIdx.x] = s + table[threadIdx.x & 15];
}
__noinline__ __device__ float helper(float a, int n) { float s = a; for (int i = 0; i < n; i++) s = s * 0.5f + 1.f; return s; }
K k_device_call(float *out, const float *x, int n) { out[threadIdx.x] = helper(x[threadIdx.x], n) + helper(-x[threadIdx.x], n + 1); }
struct Params { float scale; int shift; short flags[3]; double bias; };
K k_struct_param(double *out, const int *x, Params p) {
  int i = threadIdx.x;
  out[i] = p.scale * (x[i] >> p.shift) + p.flags[i % 3] + p.bias;
}
K k_local_array(int *out, const int *x, int n) {
  int buf[16];
  for (int k = 0; k < 16; k++) buf[k] = x[threadIdx.x * 16 + k];
  for (int k = 0; k < n; k++) { int j = (buf[k & 15] & 15); int t = buf[j]; buf[j] = buf[(j + k) & 15] + 1; buf[(j + k) & 15] = t; }
  int s = 0;
  for (int k = 0; k < 16; k++) s = s * 31 + buf[k];
  out[threadIdx.x] = s;
}
K k_atomics(int *w, unsigned long long *l, float *f, const int *x) {
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(w, v); atomicMin(w + 1, v); atomicMax(w + 2, v); atomicAnd(w + 3, v | 0xff); atomicOr(w + 4, v); atomicXor(w + 5, v);
  atomicAdd(l, (unsigned long long)v); atomicMax(l + 1, (unsigned long long)v); atomicInc((unsigned *)w + 6, 1000u); atomicDec((unsigned *)w + 7, 1000u);
  atomicAdd(f, (float)(v & 7)); int old = w[8], seen;
  do { seen = old; old = atomicCAS(w + 8, seen, seen + 1); } while (old != seen);
}
__device__ unsigned done = 0;
K k_last_block(float *out, const float *x, volatile float *part, int n) {
  __shared__ bool last; __shared__ float s[64];
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int d = 32; d; d >>= 1) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) { float t = 0; for (int i = 0; i < gridDim.x; i++) t += part[i]; out[0] = t; done = 0; }
}
K k_softmax(float *out, const float *x, int n) {
  __shared__ float red[32];
  const float *row = x + blockIdx.x * n;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
  if ((threadIdx.x & 31) == 0) red[threadIdx.x >> 5] = m;
  __syncthreads();
  m = red[0]; for (int w = 1; w < blockDim.x / 32; w++) m = fmaxf(m, red[w]);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += __expf(row[i] - m);
  s = warp_sum(s);
  if ((threadIdx.x & 31) == 0) red[threadIdx.x >> 5] = s;
  __syncthreads();
  s = 0; for (int w = 0; w < blockDim.x / 32; w++) s += red[w];
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = __expf(row[i] - m) / s;
}
K k_game_of_life(unsigned char *out, const unsigned char *in, int n) {
  int x = threadIdx.x, y = blockIdx.x, c = 0;
  for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dx || dy) c += in[((y + dy + n) % n) * n + (x + dx + n) % n];
  out[y * n + x] = c == 3 || (c == 2 && in[y * n + x]);
}
K k_spmv(float *y, const int *rows, const int *cols, const float *vals, const float *x, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) { float s = 0; for (int k = rows[r]; k < rows[r + 1]; k++) s += vals[k] * __ldg(x + cols[k]); y[r] = s; }
}
K k_mandelbrot(int *out, int w, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double cx = (i % w) * 3.0 / w - 2.0, cy = (i / w) * 2.0 / w - 1.0, x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y < 4.0) { double t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; k++; }
  out[i] = k;
}
K k_print_some(int *out) { if (threadIdx.x == 3) printf("thread %d of %d: %f\n", threadIdx.x, blockDim.x, 1.5); out[threadIdx.x] = threadIdx.x; if (out[0] > 5) __trap(); }
K k_lookback_scan(int *out, const int *x, volatile int *flags, int *sums, int *ticket) {
  __shared__ int tile, before, s[64];
  int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  int i = tile * 64 + t;
  s[t] = x[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    sums[2 * tile] = s[63];
    __threadfence();
    flags[tile] = 1;
    int sum = 0;
    for (int k = tile - 1, flag = 1; k >= 0 && flag != 2; k--) {
      while ((flag = flags[k]) == 0) {}
      __threadfence();
      sum += sums[2 * k + flag - 1];
    }
    sums[2 * tile + 1] = sum + s[63];
    __threadfence();
    flags[tile] = 2;
    before = sum;
  }
  __syncthreads();
  out[i] = s[t] + before;
}
K k_split_k(float *d, const float *a, const float *b, int *lock, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, part = blockIdx.y, state = -1;
  float sum = 0;
  for (int i = part * k; i < (part + 1) * k; i++) sum += a[i] * b[i * n + column];
  while (__syncthreads_and(state != part))
    if (threadIdx.x == 0) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(lock + blockIdx.x) : "memory");
  __syncthreads();
  d[column] = part ? d[column] + sum : sum;
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("st.global.release.gpu.b32 [%0], %1;" :: "l"(lock + blockIdx.x), "r"(part + 1) : "memory");
}
K k_grid_sync(int *x, int *y, int n, int steps) {
  auto grid = cooperative_groups::this_grid();
  for (int step = 0; step < steps; step++) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[(i + 1) % n] * 3 + x[(i + n - 1) % n] + step;
    grid.sync();
    int *was = x;
    x = y;
    y = was;
  }
}
