// libFuzzer's entry point for programs that define main, as SwiftPM's executables do. Clang installs
// no header for it.
#ifndef CFUZZER_H
#define CFUZZER_H
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *bytes, size_t count));

#endif
