/* What the control page counts, as JSON and as a table. */
#ifndef ORDEAL_LAUNCHER_STATUS_H
#define ORDEAL_LAUNCHER_STATUS_H

#include "fault-inject/control.h"

#include <jansson.h>
#include <stdio.h>

json_t *status_rules(const struct control_page *page);
json_t *status_unmatched(const struct control_page *page);
json_t *status_json(const struct control_page *page);

void status_print(const struct control_page *page, FILE *out, bool colour);

/* One line a rule: number, text, how often it matched and fired, and what is remarkable about it. */
void status_print_rules(const struct control_page *page, FILE *out, bool colour);

#endif
