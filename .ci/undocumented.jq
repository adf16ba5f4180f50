# From symbol graphs: where each public name without a comment stands. A method that a protocol asks for
# has the protocol's comment; what the compiler adds lies in no file.
.symbols[] | select(.docComment == null and .location)
| "\(.location.uri | ltrimstr("file://")):\(.location.position.line + 1): no comment: \(.pathComponents | join("."))"
