# From symbol graphs: the location of each public name without a comment. A protocol requirement's
# implementation inherits the protocol's comment; names that the compiler synthesizes have no source
# file.
.symbols[] | select(.docComment == null and .location)
| "\(.location.uri | ltrimstr("file://")):\(.location.position.line + 1): no comment: \(.pathComponents | join("."))"
