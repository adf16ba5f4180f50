/// Finds the unlinked pads of a string's elements: a program's appsink belongs at the end of a
/// capture, its appsrc at the beginning of an output, wherever in the string that is. In
/// `compositor name=c videotestsrc ! c.` the end is behind the compositor.
package struct OpenEnds: Sendable {
    /// The kind of media in a stream.
    package enum Kind: Hashable, Sendable {
        /// Pictures, raw or encoded.
        case video
        /// Sound, raw or encoded.
        case audio
    }

    /// A place in the string where a link is missing.
    package struct End: Hashable, Sendable {
        /// The kind of media; `nil` if it cannot be determined from the elements.
        package let kind: Kind?
        /// Byte offset in ``text``.
        let place: Int
        /// The element, if its streams become known while data flows: `decodebin`, a demuxer. Otherwise `nil`.
        package var late: LateElement?
    }

    /// An element whose pads appear while data flows.
    package struct LateElement: Hashable, Sendable {
        /// The name that the string gives it; `nil` if it gives none.
        package let name: String?
    }

    /// The string, with one space between words.
    package let text: String
    /// The unlinked ends, in order; empty if they cannot be determined from the elements.
    package let ends: [End]

    /// Finds the ends of a capture.
    package static func ofCapture(_ text: PipelineText) -> OpenEnds { OpenEnds(text, tails) }

    /// Finds the ends of an output.
    package static func ofOutput(_ text: PipelineText) -> OpenEnds { OpenEnds(text, heads) }

    /// Returns the string with `parts[i]` inserted at `ends[i]`.
    package func completed(by parts: [String]) -> String {
        var bytes = Array(text.utf8)
        for (end, part) in zip(ends, parts).reversed() {
            bytes.insert(contentsOf: Array(part.utf8), at: end.place)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private init(_ description: PipelineText, _ ends: ([String]) -> [End]) {
        let words = description.parsableWords
        text = words.joined(separator: " ")
        self.ends = ends(words)
    }

    // MARK: Captures

    private static func tails(_ words: [String]) -> [End] {
        // Caps at the end belong to a link that is still to be added; the lexer would not recognise
        // them.
        let last = words.lastIndex(of: "!").map { $0 + 1 } ?? 0
        let endsInCaps =
            last < words.count && last > 0 && PipelineText.isCaps(words[last])
            // `height=180! mix.` contains a link without a space in front of it.
            && !words[last...].contains { $0.hasSuffix("!") }
        let body = endsInCaps ? Array(words[..<(last - 1)]) : words
        guard let chains = PipelineChains(body.joined(separator: " ")),
            // A link is also missing elsewhere.
            !chains.chains.contains(where: { isLoose($0.first, chains, .sink) })
        else { return [] }
        var ends: [End] = []
        for (index, chain) in chains.chains.enumerated() {
            guard let node = chain.last else { continue }
            if endsInCaps, index == chains.chains.count - 1 {
                let length = words.joined(separator: " ").utf8.count
                let caps = words[last...].joined(separator: " ")
                ends.append(End(kind: kind(ofCaps: caps), place: length))
            } else if isOpen(node, in: chain, chains, .source) {
                let kind = kind(of: chain.reversed(), .source)
                let pads = templates(of: node, .source)
                let isLate = !pads.isEmpty && pads.allSatisfy { $0.presence == .sometimes }
                ends.append(
                    End(
                        kind: kind, place: node.place.upperBound,
                        late: kind == nil && isLate ? LateElement(name: node.name) : nil))
            }
        }
        return ends
    }

    // MARK: Outputs

    private static func heads(_ words: [String]) -> [End] {
        let first = words.firstIndex(of: "!") ?? 0
        let beginsWithCaps = first > 0 && PipelineText.isCaps(words[0])
        let start = beginsWithCaps ? first + 1 : 0
        let offset = words[..<start].reduce(0) { $0 + $1.utf8.count + 1 }
        guard let chains = PipelineChains(words[start...].joined(separator: " ")),
            !chains.chains.contains(where: { isLoose($0.last, chains, .source) })
        else { return [] }
        var ends: [End] = []
        var used: [End] = []
        for (index, chain) in chains.chains.enumerated() {
            guard let node = chain.first else { continue }
            if beginsWithCaps, index == 0 {
                let kind = kind(ofCaps: words[..<first].joined(separator: " "))
                ends.append(End(kind: kind, place: 0))
                continue
            }
            let templates = templates(of: node, .sink)
            let end = End(
                kind: kind(of: chain, .sink), place: offset + node.place.lowerBound)
            if isOpen(node, in: chain, chains, .sink) {
                ends.append(end)
            } else if templates.contains(where: { $0.presence == .request }) {
                used.append(end)
            }
        }
        // A muxer can always provide another request pad.
        return ends.isEmpty ? Array(used.prefix(1)) : ends
    }

    // MARK: Types

    /// Returns the string with a caps filter behind each `appsrc` whose name is a key of `types`.
    /// The filter lets the parser select the right pad of a muxer; an appsrc itself accepts any
    /// caps.
    ///
    /// Raw formats get a filter only if there is a choice of pads: otherwise frames are converted
    /// to the required format, and a filter would reverse the order of preference of the elements
    /// downstream.
    ///
    /// - Parameters:
    ///   - text: A gst-launch string.
    ///   - types: The caps of each stream, by the name of its `appsrc`.
    ///   - evenRaw: Whether raw formats always get one: some elements (`aspectratiocrop`) cannot be
    ///     linked before their input caps are known.
    package static func typed(
        _ text: String, _ types: [String: Caps], evenRaw: Bool = false
    ) -> String {
        let words = PipelineText(text).parsableWords.joined(separator: " ")
        guard !types.isEmpty, let chains = PipelineChains(words) else { return text }
        var bytes = Array(words.utf8)
        for chain in chains.chains.reversed() {
            guard chain.count > 1, chain[0].factory == "appsrc", chain[0].capsBehind == nil,
                let type = chain[0].name.flatMap({ types[$0] })
            else { continue }
            if type.isRaw, !evenRaw, !isChoice(chain.dropFirst(), chains) { continue }
            bytes.insert(contentsOf: Array(" ! \(type)".utf8), at: chain[0].place.upperBound)
        }
        return bytes.count == words.utf8.count ? text : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the first element that does not accept any caps has several sink pads.
    private static func isChoice(
        _ nodes: some Sequence<PipelineChains.Node>, _ chains: PipelineChains
    ) -> Bool {
        for node in nodes {
            let pads = pads(of: node, in: chains)
            if pads.count > 1 { return true }
            guard let only = pads.first, only.mediaTypes.isEmpty, node.capsBehind == nil else {
                return false
            }
        }
        return false
    }

    /// Returns a node's sink pad templates; for a reference, those of the element that it refers
    /// to.
    private static func pads(
        of node: PipelineChains.Node, in chains: PipelineChains
    ) -> [ElementFactory.PadTemplate] {
        let element = node.isReference ? chains.element(of: node.name) ?? node : node
        return templates(of: element, .sink)
    }

    // MARK: Elements

    private static func templates(
        of node: PipelineChains.Node, _ direction: ElementFactory.Direction
    ) -> [ElementFactory.PadTemplate] {
        node.factory.flatMap { ElementFactory.padTemplates(of: $0, direction) } ?? []
    }

    /// Whether the node has a pad that is not linked.
    private static func isOpen(
        _ node: PipelineChains.Node, in chain: [PipelineChains.Node], _ chains: PipelineChains,
        _ direction: ElementFactory.Direction
    ) -> Bool {
        // A reference that is a whole chain: its link was cut off.
        if node.isReference { return chain.count == 1 }
        let templates = templates(of: node, direction)
        let always = templates.count { $0.presence == .always }
        let uses = chains.uses(of: node.name, as: direction)
        return always > 0 ? always > uses : !templates.isEmpty && uses == 0
    }

    /// Whether the node is an element with an unlinked always-pad, at the end of a chain to which
    /// the program does not link.
    private static func isLoose(
        _ node: PipelineChains.Node?, _ chains: PipelineChains,
        _ direction: ElementFactory.Direction
    ) -> Bool {
        guard let node, !node.isReference else { return false }
        let always = templates(of: node, direction).count { $0.presence == .always }
        return always > chains.uses(of: node.name, as: direction)
    }

    /// Returns the kind of media of the first node that determines it, going inwards from an end.
    private static func kind(
        of nodes: some Sequence<PipelineChains.Node>, _ direction: ElementFactory.Direction
    ) -> Kind? {
        for node in nodes {
            if let pad = node.pad {
                if pad.hasPrefix("audio") { return .audio }
                if pad.hasPrefix("video") { return .video }
            }
            // Going backwards, the caps of a link come before its element; going forwards, after
            // it.
            if direction == .source, let caps = node.capsBehind { return kind(ofCaps: caps) }
            for side in [direction, direction == .source ? .sink : .source] {
                let types = Set(templates(of: node, side).flatMap(\.mediaTypes))
                if types.isEmpty { continue }
                return kind(ofTypes: types)
            }
            if direction == .sink, let caps = node.capsBehind { return kind(ofCaps: caps) }
        }
        return nil
    }

    private static func kind(ofCaps caps: String) -> Kind? {
        let text = caps.drop { " \"'".contains($0) }
        return text.firstIndex(of: "/").flatMap { kind(ofTypes: [String(text[...$0])]) }
    }

    private static func kind(ofTypes types: Set<String>) -> Kind? {
        if types.allSatisfy({ $0.hasPrefix("audio/") }) { return .audio }
        return types.allSatisfy { $0.hasPrefix("video/") || $0.hasPrefix("image/") } ? .video : nil
    }
}
