/* ordeal hooks: the manual of the calls, made from hooks.def. */
#include "fault-inject/launcher/command.h"
#include "fault-inject/launcher/say.h"
#include "fault-inject/rule/rule.h"
#include "fault-inject/rule/words.h"

#include <jansson.h>

static struct {
    bool json;
} options;

static const struct option_spec specs[] = {{"json", 0, OPTION_FLAG, &options.json, NULL, "as a JSON array"},
                                           {.name = NULL}};

static const char *const object_names[] = {
    [OBJECT_NONE] = "none",      [OBJECT_FD] = "descriptor",   [OBJECT_PATH] = "path",
    [OBJECT_AT] = "path",        [OBJECT_ADDRESS] = "address", [OBJECT_MUTEX] = "mutex",
    [OBJECT_MAPPING] = "mapping"};

static void print_aliases(int hook)
{
    int row;
    const char *before = "  also    ";
    for (size_t i = 0; call_alias(i, &row) != NULL; i++)
        if (row == hook) {
            printf("%s%s", before, call_alias(i, &row));
            before = " ";
        }
    if (*before == ' ' && before[1] == '\0')
        putchar('\n');
}

static void print_row(int hook)
{
    const struct hook_info *info = &hook_table[hook];
    printf("%s\n  family  @%s\n  errno  ", info->prototype, hook_family_name[info->family]);
    for (const int *err = info->errnos; *err != 0; err++)
        printf(" %s", hook_errno_name(hook, *err));
    printf("\n  short   %s    drop  %s    size  %s    object  %s\n",
           info->shortness != SHORTNESS_NONE ? "yes" : "no", info->drop != DROP_NONE ? "yes" : "no",
           info->has_size ? "yes" : "no", object_names[info->object]);
    print_aliases(hook);
}

static json_t *row_json(int hook)
{
    const struct hook_info *info = &hook_table[hook];
    json_t *errnos = json_array(), *aliases = json_array();
    for (const int *err = info->errnos; *err != 0; err++)
        json_array_append_new(errnos, json_string(hook_errno_name(hook, *err)));
    int row;
    for (size_t i = 0; call_alias(i, &row) != NULL; i++)
        if (row == hook)
            json_array_append_new(aliases, json_string(call_alias(i, &row)));
    return json_pack("{s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:s, s:o}", "call", info->name, "prototype",
                     info->prototype, "family", hook_family_name[info->family], "errnos", errnos, "short",
                     info->shortness != SHORTNESS_NONE, "drop", info->drop != DROP_NONE, "size",
                     info->has_size, "object", object_names[info->object], "aliases", aliases);
}

static void choose_family(int family, hook_set chosen)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if ((int)hook_table[hook].family == family)
            hook_set_add(chosen, hook);
}

static bool choose(const char *word, hook_set chosen)
{
    struct span name = span_of(word);
    bool is_family = word[0] == '@';
    if (is_family)
        name = span_from(name, 1);
    int found = is_family ? family_find(name) : call_find(name);
    if (found >= 0 && is_family)
        choose_family(found, chosen);
    else if (found >= 0)
        hook_set_add(chosen, found);
    if (found >= 0)
        return true;
    const char *near = is_family ? family_nearest(name) : call_nearest(name);
    if (near != NULL)
        say("hooks: there is no '%s'; did you mean %s%s?", word, is_family ? "@" : "", near);
    else
        say("hooks: there is no '%s'; `ordeal hooks` lists all", word);
    return false;
}

static void print_chosen(const hook_set chosen)
{
    json_t *rows = json_array();
    bool first = true;
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        if (!hook_set_has(chosen, hook))
            continue;
        if (options.json) {
            json_array_append_new(rows, row_json(hook));
        } else {
            fputs(first ? "" : "\n", stdout);
            print_row(hook);
        }
        first = false;
    }
    if (options.json) {
        json_dumpf(rows, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(rows);
}

static int run(int argc, char **argv)
{
    hook_set chosen = {0};
    int words = options_parse_mixed("hooks", specs, argc, argv);
    if (words < 0)
        return EXIT_USAGE;
    for (int i = 1; i <= words; i++)
        if (!choose(argv[i], chosen))
            return EXIT_USAGE;
    for (int family = 0; family < FAMILY_COUNT && words == 0; family++)
        choose_family(family, chosen);
    print_chosen(chosen);
    return 0;
}

const struct command hooks_command = {
    .name = "hooks",
    .summary = "the calls that can be made to fail, and how each of them may",
    .usage = "hooks [CALL | @FAMILY]… [--json]",
    .about =
        "The manual of the calls: prototype, family, the errnos that a rule may use without '!', whether a "
        "call\n"
        "may be cut short or dropped, whether size= applies, and what fd=, path=, shared, robust look at.\n",
    .examples_and_exits = "Examples:\n"
                          "  ordeal hooks flock\n"
                          "  ordeal hooks @socket --json\n"
                          "\n"
                          "Exit status: 0; 2 for an unknown call or family.\n",
    .options = specs,
    .run = run};
