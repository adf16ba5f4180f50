package import MediaBridge

extension BridgePlan {
    /// Connects the captures and outputs that have an address instead of a string: `whep:URL` and
    /// `whip:URL`. A bearer token follows the URL after a space: `whip:https://media.example/whip TOKEN`. In a
    /// pipeline file, whose variables are values of properties: `whip: location=${url} token=${token}`.
    ///
    /// Captures are connected at once, to learn which streams they bring.
    ///
    /// - Parameter decodesCaptures: Whether captures deliver raw media; otherwise encoded media, as a
    ///   recording takes it. Default true.
    /// - Throws: ``PipelineError``, also with ``PipelineError/Code/refused`` for an untrusted plan.
    package mutating func connectAddresses(
        decodingCaptures decodesCaptures: Bool = true
    ) async throws(PipelineError) {
        for index in captures.indices {
            guard let address = try Address(captures[index].text, scheme: "whep") else {
                continue
            }
            try refuseIfUntrusted()
            let (feed, text) = try await address.feed(isDecoded: decodesCaptures)
            feeds[captures[index].name] = feed
            captures[index].text = text
        }
        for output in outputs {
            guard let address = try Address(output.text, scheme: "whip") else { continue }
            try refuseIfUntrusted()
            destinations.append(
                Destination(name: output.name, try WHIPSink(address.url, token: address.token)))
        }
        outputs.removeAll { Self.isAddress($0.text, scheme: "whip") }
    }

    /// Neither this error nor that of an invalid address quotes the text, which may contain a token.
    private func refuseIfUntrusted() throws(PipelineError) {
        guard untrusted != nil else { return }
        throw PipelineError(.refused, message: "an untrusted string cannot connect to a server")
    }

    /// A scheme, a URL and perhaps a token.
    private struct Address {
        let url: String
        let token: String?

        /// - Returns: `nil` for a string.
        init?(_ text: String, scheme: String) throws(PipelineError) {
            guard BridgePlan.isAddress(text, scheme: scheme) else { return nil }
            // Values of a pipeline file's variables may stand in quotes.
            var words = text.filter { $0 != "\"" }.split { $0 == " " || $0.isNewline }
            if let first = words.first { words[0] = first.dropFirst(scheme.count + 1) }
            words.removeAll(where: \.isEmpty)
            guard (1...2).contains(words.count) else {
                throw PipelineError(
                    .badValue,
                    message:
                        "not a \(scheme.uppercased()) address: \(words.count) words after \(scheme):",
                    advice: "\(scheme):URL, or \(scheme):URL TOKEN")
            }
            func value(_ property: String, _ place: Int) -> String? {
                if let word = words.first(where: { $0.hasPrefix("\(property)=") }) {
                    return String(word.dropFirst(property.count + 1))
                }
                guard place < words.count, !words[place].contains(/^(location|token)=/) else {
                    return nil
                }
                return String(words[place])
            }
            url = value("location", 0) ?? ""
            token = value("token", 1).flatMap { $0.isEmpty ? nil : $0 }
        }

        func feed(isDecoded: Bool) async throws(PipelineError) -> (WHEPFeed, String) {
            do throws(PipelineError) {
                let feed = WHEPFeed(
                    try SignallingClient(url, token: token), PeerConnection.Configuration())
                let codecs = try await feed.connect()
                return (feed, WHEPFeed.text(codecs.video, codecs.audio, isDecoded: isDecoded))
            } catch {
                throw error.asOfBridge
            }
        }
    }
}
