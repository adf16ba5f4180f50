# From what docc writes with --diagnostics-file: a line for each finding, for people and editors.
.diagnostics[]
| "\(.source // "" | ltrimstr("file://")):\(.range.start.line // 1): \(.severity): \(.summary)"
