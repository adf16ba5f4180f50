# From symbol graphs, as jq -s: a line for each public name, and one for each protocol or class that a type
# conforms to or inherits from.
# What the compiler adds (an enumeration's init(rawValue:)) lies in no file, but its mangled name begins with
# the module's: s:9MediaCore…
def home: if .location then .location.uri | capture("/Sources/(?<name>[^/]+)/").name
    else .identifier.precise | capture("^s:(?<length>[0-9]+)(?<rest>.*)") | .rest[:.length | tonumber] end;
def path: .pathComponents | join(".");
# What every type has unless it gives it up.
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
