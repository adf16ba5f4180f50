// System calls that must fail in a confined process. Each function returns 0 on success, or a
// negative errno. In C, because Swift cannot import syscall() or the headers of these calls.
#ifndef ATTACKS_H
#define ATTACKS_H

int attack_type(int terminal);
int attack_type_with_high_bits(int terminal);
int attack_mode(const char *path);
int attack_attribute(const char *path);
int attack_flags(const char *path);
int attack_empty_for_reading(const char *path);
int attack_empty_for_neither(const char *path);
int attack_set_user_file(const char *path);
int attack_set_user_node(const char *path);
int attack_shared_memory(void);
int attack_messages(void);
int attack_keys(void);
int attack_signal(int process);
int attack_signal_by_pipe(int process);
int attack_limits(int process);
int attack_priority(int process);
int attack_new_world(void);

#endif
