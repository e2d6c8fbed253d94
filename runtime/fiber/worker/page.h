/* The status page as text, JSON, XML or HTML: names with values, then rows of them. The fields are the same
 * in each style.
 *
 *     struct page *page = page_new(PAGE_JSON);
 *     page_text(page, "pool", "www");               // {"pool":"www"
 *     page_rows(page);                              // , "processes":[
 *     page_row(page);                               // {
 *     page_number(page, "pid", 42);                 // "pid":42
 *     page_row_end(page);                           // }
 *     page_end(page);                               // ]}
 */
#ifndef ORDEAL_FIBER_WORKER_PAGE_H
#define ORDEAL_FIBER_WORKER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum page_style { PAGE_TEXT, PAGE_JSON, PAGE_XML, PAGE_HTML, PAGE_STYLES };

extern const struct page_kind {
    const char *name;          /* as it is asked for: ?json */
    const char *header, *type; /* php-fpm does not write the name alike in all */
} page_kinds[PAGE_STYLES];

struct page;

struct page *page_new(enum page_style style); /* NULL: no memory */
void page_free(struct page *page);

void page_text(struct page *page, const char *name, const char *value);
void page_number(struct page *page, const char *name, uint64_t value);
void page_time(struct page *page, const char *name, time_t value);

/* After these fields come rows; page_row_end() is false when that row did not fit and no other one will: it
 * is left out as a whole. */
void page_rows(struct page *page);
void page_row(struct page *page);
bool page_row_end(struct page *page);

void page_end(struct page *page);

const char *page_bytes(const struct page *page, size_t *count);

#endif
