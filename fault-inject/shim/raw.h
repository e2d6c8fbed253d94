/* System calls without libc: no errno is touched, no hook is passed, nothing is allocated.
 *
 * The shim may not call what it intercepts, so what it needs of the kernel it asks for itself:
 *
 *     long n = raw_syscall(SYS_readlink, (long)path, (long)buf, sizeof buf);   // -ENOENT on failure
 */
#ifndef ORDEAL_SHIM_RAW_H
#define ORDEAL_SHIM_RAW_H

#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long raw_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long raw_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "raw_syscall6: only x86-64 and aarch64 are known; add this architecture's system call instruction here"
#endif

/* raw_syscall(number, up to six arguments) */
#define raw_syscall(...) RAW_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define RAW_PICK(number, a, b, c, d, e, f, ...)                                                              \
    raw_syscall6((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
