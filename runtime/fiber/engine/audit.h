/* Does anything change that nobody knows of? With ORDEAL_AUDIT=1 in the environment, after each request every
 * writable byte of libphp and its extensions is compared with what it was before. What has changed must be in
 * an image (ranges.c) or on the list of what is shared on purpose (shared.def); anything else is reported,
 * once, on stderr:
 *
 *     AUDIT: libphp.so+0x98a2c0 (basic_submodules+0x40) changed, in no image and not listed: 0000... ->
 * 7f3e...
 *
 * With ORDEAL_AUDIT=strict what is on the list is reported too. It is slow: for tests. */
#ifndef ORDEAL_FIBER_ENGINE_AUDIT_H
#define ORDEAL_FIBER_ENGINE_AUDIT_H

void audit_open(void);
void audit_begin(void); /* before a slot starts to run a request */
void audit_end(void);   /* after its end */

#endif
