#include "runtime/fiber/engine/tables.h"

#include "runtime/fiber/engine/ranges.h"

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

static bool copy_entries(HashTable *table, size_t entry_bytes)
{
    zval *value;
    bool whole = true;
    ZEND_HASH_FOREACH_VAL(table, value)
    {
        void *copy = malloc(entry_bytes);
        if (copy)
            memcpy(copy, Z_PTR_P(value), entry_bytes);
        Z_PTR_P(value) = copy; /* also a NULL: free_copy() then frees what there is */
        whole = whole && copy;
    }
    ZEND_HASH_FOREACH_END();
    return whole;
}

static HashTable *copy_of(const HashTable *table, size_t entry_bytes)
{
    HashTable *copy = malloc(sizeof *copy);
    void *data = malloc(HT_SIZE(table));
    if (!copy || !data) {
        free(copy);
        free(data);
        return NULL;
    }
    *copy = *table;
    memcpy(data, HT_GET_DATA_ADDR(table), HT_SIZE(table));
    HT_SET_DATA_ADDR(copy, data);
    if (!entry_bytes || copy_entries(copy, entry_bytes))
        return copy;
    free_copy(copy, true);
    return NULL;
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
    void *roots = *hidden->gc_buffer ? malloc(*hidden->gc_buffer_count * sizeof(void *)) : NULL;
    pcre2_match_data *match = pcre2_match_data_create(32, NULL);
    if (!map || !match || (*hidden->gc_buffer && !roots)) {
        free(map);
        free(roots);
        if (match)
            pcre2_match_data_free(match);
        return false;
    }
    CG(map_ptr_real_base) = map;
    CG(map_ptr_base) = ZEND_MAP_PTR_BIASED_BASE(map);
    if (*hidden->gc_buffer)
        *hidden->gc_buffer = roots;
    *hidden->pcre_match_data = match;
    return true;
}

bool tables_copy(void)
{
    struct table tables[TABLES];
    HashTable *copies[TABLES];
    list_tables(tables);
    int made = 0;
    while (made < TABLES && (copies[made] = copy_of(*tables[made].places[0], tables[made].entry_bytes)))
        made++;
    if (made == TABLES && copy_regions()) {
        for (int i = 0; i < TABLES; i++)
            point(&tables[i], copies[i]);
        return true;
    }
    while (made-- > 0)
        free_copy(copies[made], tables[made].entry_bytes != 0);
    return false;
}

void tables_free(void)
{
    struct table tables[TABLES];
    list_tables(tables);
    for (int i = 0; i < TABLES; i++)
        free_copy(*tables[i].places[0], tables[i].entry_bytes != 0);
    free(CG(map_ptr_real_base));
    free(*ranges_hidden()->gc_buffer);
    pcre2_match_data_free(*ranges_hidden()->pcre_match_data);
}
