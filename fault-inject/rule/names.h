/* Names of marks and rendezvous, entered once each into the control page. */
#ifndef ORDEAL_RULE_NAMES_H
#define ORDEAL_RULE_NAMES_H

#include "fault-inject/control.h"
#include "fault-inject/rule/span.h"

/* Letters, digits, '_', '-', '.'; 1 to CONTROL_NAME_MAX - 1 of them. */
bool name_is_valid(struct span name);

/* The index of a name, or -1 if there is none such. */
int mark_find(const struct control_page *page, struct span name);
int rendezvous_find(const struct control_page *page, struct span name);

/* The same, entering the name if it is new; -1 when the page is full. */
int mark_enter(struct control_page *page, struct span name);
int rendezvous_enter(struct control_page *page, struct span name);

#endif
