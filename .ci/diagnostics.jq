# From docc's --diagnostics-file: a line for each finding, readable by people and editors.
.diagnostics[]
| "\(.source // "" | ltrimstr("file://")):\(.range.start.line // 1): \(.severity): \(.summary)"
