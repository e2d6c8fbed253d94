#include "fault-inject/rule/check.h"
#include "fault-inject/rule/fields.h"
#include "fault-inject/rule/words.h"

#include <ctype.h>

/* The length of the first part of `text`, up to a colon that no backslash quotes. */
static size_t part_length(struct span text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == ':')
            return i;
        if (text.at[i] == '\\')
            i++;
    }
    return text.length;
}

static void report_unknown_call(struct draft *draft, struct span name)
{
    const char *near = call_nearest(name);
    if (near != NULL)
        diagnose(draft->errors, draft->line, name.at, "unknown call '%.*s'; did you mean %s?", SPAN(name),
                 near);
    else
        diagnose(draft->errors, draft->line, name.at,
                 "unknown call '%.*s'; expected a call, or @family (`ordeal hooks` lists them)", SPAN(name));
}

static bool read_family(struct draft *draft, struct span word)
{
    struct span name = span_from(word, 1);
    int family = family_find(name);
    if (family >= 0 && draft->family_at[family] == NULL) {
        draft->family_at[family] = word.at;
        return true;
    }
    const char *near = family_nearest(name);
    if (family >= 0)
        diagnose(draft->errors, draft->line, word.at, "%.*s is named twice", SPAN(word));
    else if (near != NULL)
        diagnose(draft->errors, draft->line, word.at, "unknown family '%.*s'; did you mean @%s?", SPAN(word),
                 near);
    else
        diagnose(draft->errors, draft->line, word.at,
                 "unknown family '%.*s'; expected @file, @socket, @lock, @memory, @thread, @time or @process",
                 SPAN(word));
    return false;
}

static bool read_call(struct draft *draft, struct span word)
{
    if (word.length == 0) {
        diagnose(draft->errors, draft->line, word.at,
                 "a call is missing here; a rule starts with its calls, such as read or read|write or @file");
        return false;
    }
    if (word.at[0] == '@')
        return read_family(draft, word);
    int hook = call_find(word);
    if (hook < 0) {
        report_unknown_call(draft, word);
        return false;
    }
    if (hook_set_has(draft->named, hook)) {
        diagnose(draft->errors, draft->line, word.at, "%s is named twice%s", hook_table[hook].name,
                 span_is(word, hook_table[hook].name) ? "" : " (this is another name of it)");
        return false;
    }
    hook_set_add(draft->named, hook);
    return true;
}

static void read_calls(struct draft *draft, struct span part)
{
    for (;;) {
        struct span word = {part.at, span_find(part, '|')};
        if (!read_call(draft, span_trim(word)))
            draft->calls_are_wrong = true;
        if (word.length == part.length)
            return;
        part = span_from(part, word.length + 1);
    }
}

static size_t word_length(struct span part)
{
    size_t length = 0;
    while (length < part.length && (isalnum((unsigned char)part.at[length]) || part.at[length] == '_'))
        length++;
    return length;
}

static const struct field *find_field(struct span name)
{
    for (size_t i = 0; i < rule_field_count; i++)
        if (span_is(name, rule_fields[i].name))
            return &rule_fields[i];
    return NULL;
}

static void report_unknown_field(struct draft *draft, struct span part, struct span name)
{
    struct nearest near = nearest_to(name);
    for (size_t i = 0; i < rule_field_count; i++)
        nearest_offer(&near, rule_fields[i].name);
    if (part.length == 0)
        diagnose(draft->errors, draft->line, part.at, "a field is missing here, between or after the colons");
    else if (near.best != NULL)
        diagnose(draft->errors, draft->line, part.at, "unknown field '%.*s'; did you mean %s?",
                 SPAN(name.length > 0 ? name : part), near.best);
    else
        diagnose(draft->errors, draft->line, part.at,
                 "unknown field '%.*s'; expected a condition such as nth=2 or an action such as errno=EINTR "
                 "(`ordeal help rules`)",
                 SPAN(name.length > 0 ? name : part));
}

/* Takes the value out of `rest`, what follows the field's name; its `at` is NULL when there is none. */
static bool read_value(struct draft *draft, const struct field *field, struct span rest, struct span *value)
{
    *value = (struct span){NULL, 0};
    if (rest.length == 0 && field->value <= VALUE_OPTIONAL)
        return true;
    if (rest.length > 0 && field->value == VALUE_NONE) {
        diagnose(draft->errors, draft->line, rest.at, "%s takes no value", field->name);
        return false;
    }
    if (field->value == VALUE_COMPARED) {
        *value = rest;
        return true;
    }
    bool given = rest.length > 0 && rest.at[0] == '=';
    *value = given ? span_trim(span_from(rest, 1)) : rest;
    if (given && value->length > 0)
        return true;
    diagnose(draft->errors, draft->line, value->at, "%s wants =%s", field->name, field->expects);
    return false;
}

static bool is_given_already(struct draft *draft, const struct field *field, struct span part)
{
    for (size_t i = 0; i < rule_field_count; i++) {
        const struct field *other = &rule_fields[i];
        bool same = (other->condition & field->condition) != 0 || (other->action & field->action) != 0;
        if (!same || draft->field_at[i] == NULL)
            continue;
        if (other == field)
            diagnose(draft->errors, draft->line, part.at, "%s is given twice", field->name);
        else
            diagnose(draft->errors, draft->line, part.at,
                     "%s and %s: oom is errno=ENOMEM, so one is too many", other->name, field->name);
        return true;
    }
    return false;
}

static bool read_field(struct draft *draft, struct span part)
{
    struct span name = {part.at, word_length(part)};
    const struct field *field = find_field(name);
    if (field == NULL) {
        report_unknown_field(draft, part, name);
        return false;
    }
    if (is_given_already(draft, field, part))
        return false;
    draft->field_at[field - rule_fields] = part.at;
    struct span value;
    if (!read_value(draft, field, span_trim(span_from(part, name.length)), &value))
        return false;
    size_t reported = draft->errors->count;
    if (!field->parse(draft, value)) {
        if (draft->errors->count == reported)
            diagnose(draft->errors, draft->line, value.at, "%s wants %s, not '%.*s'", field->name,
                     field->expects, SPAN(value));
        return false;
    }
    draft->rule->conditions |= field->condition;
    draft->rule->actions |= field->action;
    return true;
}

/* A field whose value has a colon of its own (caller=) takes the next part as well. */
static size_t field_length(struct span text)
{
    size_t length = part_length(text);
    struct span start = span_trim((struct span){text.at, length});
    const struct field *field = find_field((struct span){start.at, word_length(start)});
    if (field != NULL && field->two_parts && length < text.length)
        length += 1 + part_length(span_from(text, length + 1));
    return length;
}

static void read_fields(struct draft *draft, struct span text)
{
    for (;;) {
        struct span part = {text.at, field_length(text)};
        if (!read_field(draft, span_trim(part)))
            draft->fields_are_wrong = true;
        if (part.length == text.length)
            return;
        text = span_from(text, part.length + 1);
    }
}

/* Nothing that could garble a terminal or end a C string early. */
static bool text_is_fit(struct draft *draft, struct span text)
{
    if (text.length >= CONTROL_RULE_TEXT_MAX) {
        diagnose(draft->errors, draft->line, text.at + CONTROL_RULE_TEXT_MAX - 1,
                 "a rule may be %d bytes long, this one has %zu", CONTROL_RULE_TEXT_MAX - 1, text.length);
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
            diagnose(draft->errors, draft->line, text.at + i, "a control character (0x%02x) in a rule", byte);
            return false;
        }
    }
    return true;
}

static void read_rule(struct draft *draft, struct span text, struct rule_notes *notes)
{
    size_t calls = part_length(text);
    read_calls(draft, (struct span){text.at, calls});
    if (calls < text.length)
        read_fields(draft, span_from(text, calls + 1));
    if (!draft->calls_are_wrong || draft->rule->actions != 0)
        rule_check(draft, text.at + text.length, notes);
    memcpy(draft->rule->text, text.at, text.length);
}

bool rule_parse(const struct source_line *line, struct span text, struct control_page *page,
                struct rule *rule, struct rule_notes *notes, struct diagnostics *errors)
{
    struct rule scratch;
    memset(&scratch, 0, sizeof scratch);
    scratch.after_mark = scratch.mark = scratch.pause_point = scratch.wake_point = -1;
    struct draft draft = {.line = line, .page = page, .errors = errors, .rule = &scratch};
    struct rule_notes unused;
    memset(notes != NULL ? notes : &unused, 0, sizeof unused);
    size_t reported = errors->count;
    uint32_t marks = atomic_load(&page->mark_count), rendezvous = atomic_load(&page->rendezvous_count);

    text = span_trim(text);
    if (text_is_fit(&draft, text))
        read_rule(&draft, text, notes);
    if (errors->count != reported) {
        atomic_store(&page->mark_count, marks);
        atomic_store(&page->rendezvous_count, rendezvous);
        return false;
    }
    memcpy(rule, &scratch, sizeof scratch);
    return true;
}
