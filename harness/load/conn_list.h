/* The engine's lists of connections: doubly linked through the connections themselves. */
#ifndef ORDEAL_LOAD_CONN_LIST_H
#define ORDEAL_LOAD_CONN_LIST_H

#include "harness/load/engine.h"

static inline void conn_list_append(struct conn_list *list, struct conn *conn)
{
    conn->previous = list->last;
    conn->next = NULL;
    if (list->last != NULL)
        list->last->next = conn;
    else
        list->first = conn;
    list->last = conn;
}

static inline void conn_list_remove(struct conn_list *list, struct conn *conn)
{
    if (conn->previous != NULL)
        conn->previous->next = conn->next;
    else
        list->first = conn->next;
    if (conn->next != NULL)
        conn->next->previous = conn->previous;
    else
        list->last = conn->previous;
}

static inline struct conn *conn_list_take_last(struct conn_list *list)
{
    struct conn *conn = list->last;
    if (conn != NULL)
        conn_list_remove(list, conn);
    return conn;
}

#endif
