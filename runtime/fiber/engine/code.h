/* Finds a static variable that has no name, by the machine code of a function that uses it.
 *
 * gc_protected(), for example, is one instruction that reads a byte at a distance from the instruction
 * itself:
 *
 *     0f b6 05 d2 04 00 00      movzbl 0x4d2(%rip), %eax
 *
 * Given that function and its beginning "0f b6 05", the address is that of the next instruction plus 0x4d2.
 * An instruction may carry an operand behind the distance; its bytes come before the next one. */
#ifndef ORDEAL_FIBER_ENGINE_CODE_H
#define ORDEAL_FIBER_ENGINE_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* The address that the first such instruction of the function names. NULL: there is none within reach. */
char *code_static(const void *function, const char *opcode, size_t opcode_bytes, size_t operand_bytes);

/* True: `at` is in memory that libphp, or one of PHP's extensions, writes to. */
bool code_is_data(const void *at);

/* libphp itself, for dlsym(): its own variables, where this executable may have copies of some. NULL: none.
 */
void *code_libphp(const char **path);

/* One of its variables, and the size that its symbol table tells. NULL, and 0: it has none of that name. */
const char *code_variable(const char *name, size_t *bytes);

/* The object (file name) that `at` belongs to, and the nearest symbol; for reports. Never NULL. */
void code_describe(const void *at, char *text, size_t text_bytes);

#endif
