# From symbol graphs, as jq -s: a line for each public name, and one for each protocol or class that a type
# conforms to or inherits from.
# Names that the compiler synthesizes (an enumeration's init(rawValue:)) have no source file, but their
# mangled names begin with the module's: s:9MediaCore…
def home: if .location then .location.uri | capture("/Sources/(?<name>[^/]+)/").name
    else .identifier.precise | capture("^s:(?<length>[0-9]+)(?<rest>.*)") | .rest[:.length | tonumber] end;
def path: .pathComponents | join(".");
# Conformances that every type has unless it opts out.
def implied: ["Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"];

(map(.symbols[]) | INDEX(.identifier.precise)) as $symbols
| [
    (.[].symbols[] | "\(home)  \(path)  \(.kind.identifier | ltrimstr("swift."))  \(
        [.declarationFragments[].spelling] | join("") | gsub("\\s+"; " "))"),
    (.[].relationships[]
        | select(.kind == "conformsTo" or .kind == "inheritsFrom")
        | ($symbols[.target].names.title // (.targetFallback // .target | ltrimstr("Swift."))) as $target
        | select(implied | index($target) | not)
        | $symbols[.source] | select(. != null) | "\(home)  \(path)  is  \($target)")
  ]
| unique[]
