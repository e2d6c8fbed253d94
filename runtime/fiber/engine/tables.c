#include "runtime/fiber/engine/tables.h"

#include "runtime/fiber/engine/ranges.h"
#include "runtime/fiber/engine/share.h"

/* Where the globals point to a table. Two may point to the same one. */
struct table {
    HashTable **places[2];
    size_t entry_bytes; /* its entries are blocks of this size, copied too; 0: they are shared */
};

enum { TABLES = 5 };

static void list_tables(struct table tables[TABLES])
{
    tables[0] = (struct table){{&CG(function_table), &EG(function_table)}, 0};
    tables[1] = (struct table){{&CG(class_table), &EG(class_table)}, 0};
    tables[2] = (struct table){{&EG(zend_constants)}, 0};
    tables[3] = (struct table){{&CG(auto_globals)}, sizeof(zend_auto_global)}; /* with its flag "armed" */
    tables[4] = (struct table){{&EG(ini_directives)}, sizeof(zend_ini_entry)}; /* value, modified */
}

/* Where in a map of share.h the tables' data are, and for tables with entries of their own, those. */
static size_t places_in_map[TABLES];
static bool are_shared;

/* free() leaves alone what is in a map. */
static void free_copy(HashTable *table, bool entries)
{
    zval *value;
    if (entries) {
        ZEND_HASH_FOREACH_VAL(table, value)
        {
            free(Z_PTR_P(value));
        }
        ZEND_HASH_FOREACH_END();
    }
    free(HT_GET_DATA_ADDR(table));
    free(table);
}

/* `mapped`: where their copies are, one behind the other; NULL: they are made. */
static bool copy_entries(HashTable *table, size_t entry_bytes, char *mapped)
{
    zval *value;
    bool whole = true;
    ZEND_HASH_FOREACH_VAL(table, value)
    {
        void *copy = mapped ? mapped : malloc(entry_bytes);
        if (mapped)
            mapped += entry_bytes;
        else if (copy)
            memcpy(copy, Z_PTR_P(value), entry_bytes);
        Z_PTR_P(value) = copy; /* also a NULL: free_copy() then frees what there is */
        whole = whole && copy;
    }
    ZEND_HASH_FOREACH_END();
    return whole;
}

static void *data_copy(const HashTable *table)
{
    void *data = malloc(HT_SIZE(table));
    if (data)
        memcpy(data, HT_GET_DATA_ADDR(table), HT_SIZE(table));
    return data;
}

static HashTable *copy_of(const HashTable *table, size_t entry_bytes, char *mapped)
{
    HashTable *copy = malloc(sizeof *copy);
    void *data = mapped && !entry_bytes ? mapped : data_copy(table);
    if (!copy || !data) {
        free(copy);
        free(data);
        return NULL;
    }
    *copy = *table;
    HT_SET_DATA_ADDR(copy, data);
    if (!entry_bytes || copy_entries(copy, entry_bytes, mapped))
        return copy;
    free_copy(copy, true);
    return NULL;
}

static char *gather_entries(HashTable *table, size_t entry_bytes, size_t *bytes)
{
    char *all = malloc(zend_hash_num_elements(table) * entry_bytes + 1), *at = all;
    void *entry;
    ZEND_HASH_FOREACH_PTR(table, entry)
    {
        if (all)
            memcpy(at, entry, entry_bytes);
        at += entry_bytes;
    }
    ZEND_HASH_FOREACH_END();
    *bytes = (size_t)(at - all);
    return all;
}

void tables_share(unsigned slots_max)
{
    struct table tables[TABLES];
    list_tables(tables);
    for (int i = 0; i < TABLES; i++) {
        HashTable *table = *tables[i].places[0];
        size_t bytes = HT_SIZE(table);
        char *entries = tables[i].entry_bytes ? gather_entries(table, tables[i].entry_bytes, &bytes) : NULL;
        if (tables[i].entry_bytes && !entries)
            return;
        places_in_map[i] = share_add(entries ? entries : HT_GET_DATA_ADDR(table), bytes);
        free(entries);
    }
    are_shared = share_open(slots_max);
}

static void point(const struct table *table, HashTable *to)
{
    for (int i = 0; i < 2 && table->places[i]; i++)
        *table->places[i] = to;
}

static void *copy_bytes(const void *from, size_t used, size_t size)
{
    void *copy = malloc(size);
    if (copy)
        memcpy(copy, from, used);
    return copy;
}

/* What is not a hash table. */
static bool copy_regions(void)
{
    const struct hidden *hidden = ranges_hidden();
    void *map = copy_bytes(CG(map_ptr_real_base), CG(map_ptr_last) * sizeof(void *),
                           CG(map_ptr_size) * sizeof(void *));
    void *roots = *hidden->gc_buffer ? malloc(ranges_gc_buffer_count() * sizeof(void *)) : NULL;
    pcre2_match_data *match = pcre2_match_data_create(32, NULL);
    pcre2_match_context *context = pcre2_match_context_copy(*hidden->pcre_match_context);
    if (!map || !match || !context || (*hidden->gc_buffer && !roots)) {
        free(map);
        free(roots);
        if (match)
            pcre2_match_data_free(match);
        if (context)
            pcre2_match_context_free(context);
        return false;
    }
    CG(map_ptr_real_base) = map;
    CG(map_ptr_base) = ZEND_MAP_PTR_BIASED_BASE(map);
    if (*hidden->gc_buffer)
        *hidden->gc_buffer = roots;
    *hidden->pcre_match_data = match;
    *hidden->pcre_match_context = context;
    return true;
}

bool tables_copy(char **map)
{
    struct table tables[TABLES];
    HashTable *copies[TABLES];
    list_tables(tables);
    *map = are_shared ? share_map() : NULL;
    int made = 0;
    while (made < TABLES && (copies[made] = copy_of(*tables[made].places[0], tables[made].entry_bytes,
                                                    *map ? *map + places_in_map[made] : NULL)))
        made++;
    if (made == TABLES && copy_regions()) {
        for (int i = 0; i < TABLES; i++)
            point(&tables[i], copies[i]);
        return true;
    }
    while (made-- > 0)
        free_copy(copies[made], tables[made].entry_bytes != 0);
    share_unmap(*map);
    return false;
}

void tables_free(char *map)
{
    struct table tables[TABLES];
    list_tables(tables);
    for (int i = 0; i < TABLES; i++)
        free_copy(*tables[i].places[0], tables[i].entry_bytes != 0);
    free(CG(map_ptr_real_base));
    free(*ranges_hidden()->gc_buffer);
    pcre2_match_data_free(*ranges_hidden()->pcre_match_data);
    pcre2_match_context_free(*ranges_hidden()->pcre_match_context);
    share_unmap(map);
}
