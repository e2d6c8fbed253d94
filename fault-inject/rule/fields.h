/* The fields of a rule as one table: how each is read, printed, what it needs of a call, and what it is
 * called in the manual. The parser (parse.c), the checker (check.c), the printer (print.c) and `ordeal help
 * rules` walk it.
 */
#ifndef ORDEAL_RULE_FIELDS_H
#define ORDEAL_RULE_FIELDS_H

#include "fault-inject/rule/rule.h"

enum { FIELDS_MAX = 32 };

/* A rule while it is being read. */
struct draft {
    const struct source_line *line;
    struct control_page *page;
    struct diagnostics *errors;
    struct rule *rule;
    bool any_errno;                         /* errno=E!: legality is not looked at */
    hook_set named;                         /* calls that were named one by one */
    const char *family_at[FAMILY_COUNT];    /* where @family stands; NULL: not mentioned */
    const char *field_at[FIELDS_MAX];       /* where each field stands */
    bool calls_are_wrong, fields_are_wrong; /* then what follows from them is not reported as well */
};

/* Text that grows up to a limit and remembers how long it would have become. */
struct writer {
    char *out;
    size_t size, length;
};
__attribute__((format(printf, 2, 3))) void writer_add(struct writer *writer, const char *format, ...);

enum field_value { VALUE_NONE, VALUE_OPTIONAL, VALUE_NEEDED, VALUE_COMPARED /* size>=2M */ };

struct field {
    const char *name;
    const char *shape;   /* for the manual: "=3 | =3+2 | =3+2..9" */
    const char *expects; /* "delay wants …, not 'x'" */
    const char *summary; /* one line for the manual */
    uint32_t condition;  /* WHEN_*, or 0 for an action */
    uint32_t action;     /* THEN_*, or 0 for a condition */
    enum field_value value;
    bool two_parts; /* its value has a ':' of its own */

    /* False: the value is wrong, either reported already or to be reported with `expects`. */
    bool (*parse)(struct draft *draft, struct span value);
    void (*print)(struct writer *writer, const struct rule *rule, const struct control_page *page);

    /* Whether it makes sense for a row; NULL: for every one. Else `needs` says what is missing. */
    bool (*suits)(const struct rule *rule, bool any_errno, int hook);
    const char *needs;
};

extern const struct field rule_fields[];
extern const size_t rule_field_count;

static inline bool field_is_in(const struct field *field, const struct rule *rule)
{
    return (rule->conditions & field->condition) != 0 || (rule->actions & field->action) != 0;
}

/* Parts of the table, by file. */
bool parse_nth(struct draft *draft, struct span value);
bool parse_p(struct draft *draft, struct span value);
bool parse_times(struct draft *draft, struct span value);
bool parse_fd(struct draft *draft, struct span value);
bool parse_path(struct draft *draft, struct span value);
bool parse_size(struct draft *draft, struct span value);
bool parse_caller(struct draft *draft, struct span value);
bool parse_thread(struct draft *draft, struct span value);
bool parse_proc(struct draft *draft, struct span value);
bool parse_after(struct draft *draft, struct span value);
bool parse_nothing(struct draft *draft, struct span value);

bool parse_errno(struct draft *draft, struct span value);
bool parse_oom(struct draft *draft, struct span value);
bool parse_short(struct draft *draft, struct span value);
bool parse_delay(struct draft *draft, struct span value);
bool parse_exit(struct draft *draft, struct span value);
bool parse_pause(struct draft *draft, struct span value);
bool parse_wake(struct draft *draft, struct span value);
bool parse_mark(struct draft *draft, struct span value);
bool parse_signal(struct draft *draft, struct span value);
bool parse_skew(struct draft *draft, struct span value);

void print_nth(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_p(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_times(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_fd(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_path(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_size(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_shared(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_robust(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_caller(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_thread(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_proc(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_after(struct writer *writer, const struct rule *rule, const struct control_page *page);

void print_errno(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_short(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_delay(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_die(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_exit(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_pause(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_wake(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_mark(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_signal(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_drop(struct writer *writer, const struct rule *rule, const struct control_page *page);
void print_skew(struct writer *writer, const struct rule *rule, const struct control_page *page);

/* Whether some call of the rule may not legally report its errno: then it is printed with '!'. */
bool rule_forces_errno(const struct rule *rule);

enum { DELAY_NS_MAX_S = 3600, PAUSE_DEFAULT_S = 10, EXIT_STATUS_DEFAULT = 1 };

#endif
