extension SessionDescription {
    /// Expands webrtcbin's answer to the cleaned description into an answer to this description: it
    /// has an m-line for each of this description's m-lines, and refuses the unused ones.
    ///
    /// - Parameters:
    ///   - text: The answer of webrtcbin.
    ///   - lines: The position in this description of each m-line of the answer.
    func completing(answer text: String, lines: [Int]) -> String {
        var sections: [String] = [""]
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("m=") { sections.append("") }
            sections[sections.count - 1] += line + "\r\n"
        }
        // Some peers (aiortc) look for the transport and the codecs even in refused m-lines.
        let transport = sections.dropFirst().first.map(Self.transport) ?? ""
        var result = sections[0]
        for (place, section) in media.enumerated() {
            if let number = lines.firstIndex(of: place), number + 1 < sections.count {
                result += Self.asPeersExpect(sections[number + 1])
            } else {
                result += section.refusal + transport
            }
        }
        return result
    }

    /// Returns the ICE and DTLS lines of an m-line.
    private static func transport(of section: String) -> String {
        let names = ["ice-ufrag", "ice-pwd", "fingerprint", "setup"]
        return section.split(separator: "\r\n")
            .filter { line in names.contains { line.hasPrefix("a=\($0):") } }
            .map { $0 + "\r\n" }.joined()
    }

    /// Returns a description of webrtcbin in the form that peers expect. It contains the H.264
    /// profile, because some peers otherwise assume a profile that is never sent. It contains a
    /// port for bundled m-lines, because some peers otherwise take them for refused.
    static func asPeersExpect(_ text: String) -> String {
        let sections = text.split(separator: "\r\nm=", omittingEmptySubsequences: false)
        return sections.enumerated().map { number, section in
            asPeersExpect(section: number == 0 ? String(section) : "m=\(section)")
        }.joined()
    }

    private static func asPeersExpect(section text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let types = lines.compactMap { line -> String? in
            guard line.hasPrefix("a=rtpmap:"), line.uppercased().contains(" H264/") else {
                return nil
            }
            return String(line.dropFirst("a=rtpmap:".count).prefix { $0 != " " })
        }
        var result = ""
        var missing = Set(types)
        for line in lines where line != "a=bundle-only" {
            // webrtcbin writes port 0 for bundled m-lines, which some peers take for a refusal.
            let isBundled = lines.contains("a=bundle-only") && line.hasPrefix("m=")
            let line = isBundled ? line.replacing(" 0 ", with: " 9 ", maxReplacements: 1) : line
            let type = types.first { line.hasPrefix("a=fmtp:\($0) ") }
            guard let type else {
                result += line + "\r\n"
                continue
            }
            missing.remove(type)
            result += line + Self.lacking(in: line) + "\r\n"
        }
        guard !missing.isEmpty else { return result }
        for type in types where missing.contains(type) {
            let map = lines.first { $0.hasPrefix("a=rtpmap:\(type) ") } ?? ""
            let parameters = Self.lacking(in: "").dropFirst()
            result = result.replacing(
                map + "\r\n", with: "\(map)\r\na=fmtp:\(type) \(parameters)\r\n")
        }
        return result
    }

    private static func lacking(in line: String) -> String {
        var text = ""
        for (name, value) in [
            ("packetization-mode", "1"), ("profile-level-id", "42e01f"),
            ("level-asymmetry-allowed", "1"),
        ] where !line.contains("\(name)=") {
            text += ";\(name)=\(value)"
        }
        return text
    }
}

extension MediaSection {
    /// The m-line of an answer that refuses this one.
    fileprivate var refusal: String {
        let mid = self.mid.map { "a=mid:\($0)\r\n" } ?? ""
        let lines =
            [
                "m=\(name) 0 \(transport) \(formats.joined(separator: " "))", "c=IN IP4 0.0.0.0",
                "\(mid)a=inactive", "a=rtcp-mux",
            ]
            + values(of: "rtpmap").prefix(64).filter { $0.isToken(" /-_.+") }.map {
                "a=rtpmap:\($0)"
            }
        return lines.map { $0 + "\r\n" }.joined()
    }
}
