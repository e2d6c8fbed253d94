/* libFuzzer: any text as a plan file. It must be read or refused without harm, and what was read must be
 * printed as a text that is read back as the same rule. */
#include "fault-inject/rule/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct control_page page;
static struct diagnostics errors;
static struct plan plan;

static void fail(const char *what, const char *text, const char *printed)
{
    fprintf(stderr, "%s\n  rule:    %s\n  printed: %s\n", what, text, printed);
    abort();
}

static void go_round(struct rule *first)
{
    static struct rule second;
    static struct rule_notes notes;
    char printed[4096], text[CONTROL_RULE_TEXT_MAX];
    size_t length = rule_print(first, &page, printed, sizeof printed);
    if (length >= CONTROL_RULE_TEXT_MAX)
        return; /* many calls of several families; longer than a rule may be */
    struct source_line line = {"printed", 1, false, {printed, length}};
    if (!rule_parse(&line, line.text, &page, &second, &notes, &errors))
        fail("what was printed is refused", first->text, printed);
    memcpy(text, first->text, sizeof text);
    memset(first->text, 0, sizeof first->text);
    memset(second.text, 0, sizeof second.text);
    if (memcmp(first, &second, sizeof second) != 0)
        fail("what was printed is another rule", text, printed);
}

static void print_errors(void)
{
    static FILE *nowhere;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    if (nowhere != NULL)
        diagnostics_print(&errors, nowhere, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    atomic_store(&page.rule_count, 0);
    atomic_store(&page.mark_count, 0);
    atomic_store(&page.rendezvous_count, 0);
    memset(&plan, 0, sizeof plan);
    errors.count = 0;
    plan.page = &page;
    plan.errors = &errors;
    plan_add_text(&plan, "fuzz", (struct span){(const char *)data, size});
    print_errors();
    errors.count = 0;
    for (uint32_t i = 0; i < atomic_load(&page.rule_count); i++)
        go_round(&page.rules[i]);
    return 0;
}
