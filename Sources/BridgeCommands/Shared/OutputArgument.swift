package import MediaBridge

/// Parses `--output [NAME=]STRING`.
package enum OutputArgument {
    /// A name is a word before the first equals sign, with nothing else before it: `file=filesink
    /// location=a` has one, `filesink location=a` has none.
    package static func parse(_ text: String, among others: [BridgePlan.Named]) -> BridgePlan.Named
    {
        if let equals = text.firstIndex(of: "="), let first = text.first, first.isLetter,
            text[..<equals].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
        {
            return BridgePlan.Named(
                name: String(text[..<equals]), text: String(text[text.index(after: equals)...]))
        }
        var index = 0
        while others.contains(where: { $0.name == BridgePlan.outputName(index) }) { index += 1 }
        return BridgePlan.Named(name: BridgePlan.outputName(index), text: text)
    }
}
