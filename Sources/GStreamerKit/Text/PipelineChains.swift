/// The chains of a string: sequences of elements and references with a link between each two.
/// Contains only what can be determined without making elements.
struct PipelineChains {
    /// One place in a chain.
    struct Node {
        /// The factory name of an element; `nil` for a reference (`mux.`, `mux.sink_0`).
        let factory: String?
        /// The name that the string gives to the element, or to which the reference refers.
        fileprivate(set) var name: String?
        /// Byte range in the text, including properties.
        fileprivate(set) var place: Range<Int>
        /// Caps in the link that follows the node; `nil` if there are none.
        fileprivate(set) var capsBehind: String?

        var isReference: Bool { factory == nil }
    }

    private(set) var chains: [[Node]] = []

    /// `nil` if the string has anything but elements, references and links: bins in parentheses.
    init?(_ text: String) {
        var lexer = PipelineLexer(Array(text.utf8))
        var isLinked = false
        func add(_ node: Node) {
            if isLinked, !chains.isEmpty {
                chains[chains.count - 1].append(node)
            } else {
                chains.append([node])
            }
            isLinked = false
        }
        func changeLast(_ change: (inout Node) -> Void) -> Bool {
            guard !isLinked, var last = chains.last?.last else { return false }
            change(&last)
            chains[chains.count - 1][chains[chains.count - 1].count - 1] = last
            return true
        }
        while let (token, place) = lexer.nextPlaced() {
            switch token {
            case .identifier(let factory):
                add(Node(factory: factory, place: place))
            case .location:
                add(Node(factory: "", place: place))
            case .reference(let word):
                guard let dot = word.firstIndex(of: "."), dot != word.startIndex else { return nil }
                add(Node(factory: nil, name: String(word[..<dot]), place: place))
            case .assignment(let word):
                guard
                    changeLast({ node in
                        node.place = node.place.lowerBound..<place.upperBound
                        if let (key, value) = PipelineText.property(word), key == "name" {
                            node.name = value
                        }
                    })
                else { return nil }
            case .preset:
                guard changeLast({ $0.place = $0.place.lowerBound..<place.upperBound }) else {
                    return nil
                }
            case .link(let link):
                let caps = link.dropFirst().dropLast(link.count > 1 ? 1 : 0)
                let isEmpty = caps.allSatisfy(\.isWhitespace)
                guard changeLast({ $0.capsBehind = isEmpty ? nil : String(caps) }) else {
                    return nil
                }
                isLinked = true
            case .bin, .other: return nil
            }
        }
        if isLinked { return nil }
    }

    /// Counts the references that link a source or sink pad of the element of that name. A
    /// reference that is a whole chain counts too: it is linked to the program.
    func uses(of name: String?, as direction: ElementFactory.Direction) -> Int {
        guard let name else { return 0 }
        return chains.reduce(0) { sum, chain in
            sum
                + chain.indices.count { index in
                    guard chain[index].isReference, chain[index].name == name else { return false }
                    switch direction {
                    case .source: return index + 1 < chain.count || chain.count == 1
                    case .sink: return index > 0 || chain.count == 1
                    }
                }
        }
    }

    /// Returns the element of that name.
    func element(of name: String?) -> Node? {
        chains.joined().first { !$0.isReference && $0.name == name }
    }
}
