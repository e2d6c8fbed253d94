/* The fields that say when: reading and printing. */
#include "fault-inject/rule/fields.h"
#include "fault-inject/rule/names.h"
#include "fault-inject/rule/number.h"

#include <inttypes.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool positive(struct span text, uint64_t max, uint64_t *out)
{
    return number_count(text, out) && *out >= 1 && *out <= max;
}

static bool parse_range(struct span first, struct span step, struct span last, struct rule *rule)
{
    rule->nth_step = 1;
    rule->nth_last = UINT64_MAX;
    return positive(first, INT64_MAX, &rule->nth_first) &&
           (step.length == 0 || positive(step, INT64_MAX, &rule->nth_step)) &&
           (last.length == 0 || positive(last, INT64_MAX, &rule->nth_last)) &&
           rule->nth_last >= rule->nth_first;
}

/* first, first+step, first..last, first+step..last */
bool parse_nth(struct draft *draft, struct span value)
{
    struct rule *rule = draft->rule;
    size_t dots = span_find(value, '.');
    struct span head = {value.at, dots}, last = span_from(value, dots);
    if (last.length > 0 && (last.length < 3 || last.at[1] != '.'))
        return false;
    if (last.length > 0)
        last = span_from(last, 2);
    size_t plus = span_find(head, '+');
    struct span first = {head.at, plus}, step = span_from(head, plus);
    if (step.length == 1)
        return false;
    if (step.length > 0)
        step = span_from(step, 1);
    if (!parse_range(first, step, last, rule))
        return false;
    bool once = (step.length == 0 && last.length == 0) || rule->nth_last == rule->nth_first;
    if (once) {
        rule->nth_step = 0;
        rule->nth_last = rule->nth_first;
    }
    return true;
}

void print_nth(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":nth=%" PRIu64, rule->nth_first);
    if (rule->nth_step > 1 || (rule->nth_step == 1 && rule->nth_last == UINT64_MAX))
        writer_add(writer, "+%" PRIu64, rule->nth_step);
    if (rule->nth_step > 0 && rule->nth_last != UINT64_MAX)
        writer_add(writer, "..%" PRIu64, rule->nth_last);
}

bool parse_p(struct draft *draft, struct span value)
{
    return number_chance(value, &draft->rule->p_threshold);
}

void print_p(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    char text[NUMBER_TEXT_MAX];
    number_print_chance(rule->p_threshold, text);
    writer_add(writer, ":p=%s", text);
}

bool parse_times(struct draft *draft, struct span value)
{
    return positive(value, INT64_MAX, &draft->rule->times_max);
}

void print_times(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":times=%" PRIu64, rule->times_max);
}

static const struct {
    const char *name;
    uint32_t kind;
} fd_kinds[] = {
    {"file", FD_KIND_FILE}, {"socket", FD_KIND_SOCKET}, {"pipe", FD_KIND_PIPE}, {"other", FD_KIND_OTHER}};

static bool add_fd_kind(struct rule *rule, struct span word)
{
    for (size_t i = 0; i < LENGTH(fd_kinds); i++)
        if (span_is(word, fd_kinds[i].name) && (rule->fd_kinds & fd_kinds[i].kind) == 0) {
            rule->fd_kinds |= fd_kinds[i].kind;
            return true;
        }
    return false;
}

bool parse_fd(struct draft *draft, struct span value)
{
    for (;;) {
        struct span word = {value.at, span_find(value, ',')};
        if (!add_fd_kind(draft->rule, word))
            return false;
        if (word.length == value.length)
            return true;
        value = span_from(value, word.length + 1);
    }
}

void print_fd(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    const char *before = ":fd=";
    for (size_t i = 0; i < LENGTH(fd_kinds); i++)
        if (rule->fd_kinds & fd_kinds[i].kind) {
            writer_add(writer, "%s%s", before, fd_kinds[i].name);
            before = ",";
        }
}

/* A backslash quotes a colon, which would end the field, and a backslash; others stand for themselves. */
static bool copy_glob(struct span value, char out[CONTROL_GLOB_MAX])
{
    size_t length = 0;
    for (size_t i = 0; i < value.length; i++) {
        if (value.at[i] == '\\' && i + 1 < value.length &&
            (value.at[i + 1] == ':' || value.at[i + 1] == '\\'))
            i++;
        if (length + 1 >= CONTROL_GLOB_MAX)
            return false;
        out[length++] = value.at[i];
    }
    memset(out + length, 0, CONTROL_GLOB_MAX - length);
    return true;
}

static void print_glob(struct writer *writer, const char *glob)
{
    for (; *glob != '\0'; glob++)
        writer_add(writer, *glob == ':' || *glob == '\\' ? "\\%c" : "%c", *glob);
}

bool parse_path(struct draft *draft, struct span value)
{
    return copy_glob(value, draft->rule->path_glob);
}

void print_path(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":path=");
    print_glob(writer, rule->path_glob);
}

static const char *const size_ops[] = {
    [SIZE_EQ] = "=", [SIZE_LT] = "<", [SIZE_LE] = "<=", [SIZE_GT] = ">", [SIZE_GE] = ">="};

/* Here the value starts with its operator. */
bool parse_size(struct draft *draft, struct span value)
{
    size_t length = 0;
    while (length < value.length && memchr("<>=", value.at[length], 3) != NULL)
        length++;
    struct span op = {value.at, length};
    for (uint32_t i = 0; i < LENGTH(size_ops); i++)
        if (span_is(op, size_ops[i])) {
            draft->rule->size_op = i;
            return number_size(span_trim(span_from(value, length)), &draft->rule->size_bytes);
        }
    return false;
}

void print_size(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    char text[NUMBER_TEXT_MAX];
    number_print_size(rule->size_bytes, text);
    writer_add(writer, ":size%s%s", size_ops[rule->size_op], text);
}

void print_shared(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)rule, (void)page;
    writer_add(writer, ":shared");
}

void print_robust(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)rule, (void)page;
    writer_add(writer, ":robust");
}

static size_t find_bare_colon(struct span text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == ':')
            return i;
        if (text.at[i] == '\\')
            i++;
    }
    return text.length;
}

static struct span any_as_empty(struct span glob)
{
    return span_is(glob, "*") ? (struct span){glob.at, 0} : glob;
}

bool parse_caller(struct draft *draft, struct span value)
{
    size_t colon = find_bare_colon(value);
    if (colon == value.length)
        return false;
    struct span library = any_as_empty(span_trim((struct span){value.at, colon}));
    struct span function = any_as_empty(span_trim(span_from(value, colon + 1)));
    if (library.length + function.length == 0)
        return false;
    size_t equals = span_find(function, '=');
    if (equals < function.length) {
        diagnose(draft->errors, draft->line, function.at,
                 "'%.*s' stands where caller= wants a function; for any function write caller=%.*s:*",
                 SPAN(function), SPAN(library));
        return false;
    }
    return copy_glob(library, draft->rule->caller_library) &&
           copy_glob(function, draft->rule->caller_function);
}

void print_caller(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":caller=");
    print_glob(writer, rule->caller_library[0] != '\0' ? rule->caller_library : "*");
    writer_add(writer, ":");
    print_glob(writer, rule->caller_function[0] != '\0' ? rule->caller_function : "*");
}

bool parse_thread(struct draft *draft, struct span value)
{
    uint64_t ordinal = 0;
    bool good = positive(value, UINT32_MAX, &ordinal);
    draft->rule->thread = (uint32_t)ordinal;
    return good;
}

void print_thread(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":thread=%" PRIu32, rule->thread);
}

bool parse_proc(struct draft *draft, struct span value)
{
    uint64_t ordinal = 0;
    bool good = positive(value, CONTROL_PROCESSES_MAX, &ordinal);
    draft->rule->proc = (uint32_t)ordinal;
    return good;
}

void print_proc(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    (void)page;
    writer_add(writer, ":proc=%" PRIu32, rule->proc);
}

bool parse_after(struct draft *draft, struct span value)
{
    if (!name_is_valid(value))
        return false;
    draft->rule->after_mark = mark_enter(draft->page, value);
    if (draft->rule->after_mark >= 0)
        return true;
    diagnose(draft->errors, draft->line, value.at, "no room for a mark more (there may be %d)",
             CONTROL_MARKS_MAX);
    return false;
}

void print_after(struct writer *writer, const struct rule *rule, const struct control_page *page)
{
    writer_add(writer, ":after=%s", page->marks[rule->after_mark].name);
}
