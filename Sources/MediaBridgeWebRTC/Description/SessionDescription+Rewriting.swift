internal import MediaBridge

// MARK: - Descriptions for webrtcbin

extension SessionDescription {
    /// Rebuilds a peer's description from the parts that webrtcbin needs: the m-lines of `streams`
    /// with only their payload types, and data channels. webrtcbin aborts the process for some
    /// descriptions, so no unchecked text of a peer may reach it.
    ///
    /// - Parameters:
    ///   - streams: The streams that are used.
    ///   - keepsRefused: Whether to keep all m-lines, as in an answer to webrtcbin's own offer.
    /// - Returns: The text, and the position in this description of each of its m-lines.
    /// - Throws: `PipelineError.Code.badDescription` if an m-line lacks what a connection needs.
    func cleaned(
        for streams: [PeerStream], keepingRefused keepsRefused: Bool = false
    ) throws(PipelineError) -> (text: String, lines: [Int]) {
        var places = streams.map(\.line)
        if let channel = media.firstIndex(where: { $0.isDataChannel }) { places.append(channel) }
        if keepsRefused { places = Array(media.indices) }
        places.sort()
        let transport = transport(of: places.map { media[$0] })
        let connection = try connection(of: transport)
        var body = "", mids: [String] = []
        for place in places {
            let section = media[place]
            guard let mid = section.mid else {
                throw PipelineError(
                    .badDescription, message: "m-line \(place + 1) has no a=mid",
                    advice: "a current WebRTC library")
            }
            let stream = streams.first { $0.line == place }
            let isUsed = stream != nil || section.isDataChannel
            if isUsed { mids.append(mid) }
            body += text(of: section, mid: mid, for: stream, isUsed: isUsed, connection)
            guard userFragment(of: section) == userFragment(of: transport) else { continue }
            body += section.values(of: "candidate").prefix(64)
                .filter { CandidateText.isUsable("candidate:\($0)") }
                .map { "a=candidate:\($0)\r\n" }.joined()
        }
        let head = """
            v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE \(mids.joined(separator: " "))\r
            a=msid-semantic: WMS *\r\n
            """
        return (head + body, places)
    }

    private func text(
        of section: MediaSection, mid: String, for stream: PeerStream?, isUsed: Bool,
        _ connection: [String]
    ) -> String {
        var formats = isUsed ? ["webrtc-datachannel"] : Array(section.formats.prefix(1))
        if let stream {
            formats = ([stream.payload] + [stream.resendPayload].compactMap { $0 }).map(String.init)
        }
        var lines = [
            "m=\(section.name) \(isUsed ? 9 : 0) \(section.transport) \(formats.joined(separator: " "))",
            "c=IN IP4 0.0.0.0", "a=mid:\(mid)",
        ]
        lines += connection
        if let stream {
            lines += media(of: section, stream)
        } else {
            lines.append(isUsed ? "a=sctp-port:5000" : "a=inactive")
        }
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// Returns the m-line whose transport all streams use. A peer may offer a different transport
    /// for each m-line, for the case that they are not bundled; in a bundle, the first one's is
    /// used (RFC 9143, section 7).
    private func transport(of sections: [MediaSection]) -> MediaSection? {
        // A stream that the peer has refused has no transport.
        (sections + media).first { !$0.isRefused && $0.value(of: "ice-ufrag") != nil }
            ?? (sections + media).first
    }

    private func userFragment(of section: MediaSection?) -> String? {
        section.flatMap { value(of: "ice-ufrag", in: $0) }
    }

    /// Returns the ICE and DTLS lines.
    private func connection(of source: MediaSection?) throws(PipelineError) -> [String] {
        guard let source else { throw Self.lacking("m-line") }
        let user = value(of: "ice-ufrag", in: source) ?? ""
        let password = value(of: "ice-pwd", in: source) ?? ""
        let fingerprint = value(of: "fingerprint", in: source) ?? ""
        let setup = value(of: "setup", in: source) ?? "actpass"
        guard user.isToken("+/=-_"), (4...256).contains(user.utf8.count), password.isToken("+/=-_"),
            (22...256).contains(password.utf8.count)
        else { throw Self.lacking("a=ice-ufrag and a=ice-pwd") }
        guard Self.isFingerprint(fingerprint) else { throw Self.lacking("a=fingerprint") }
        guard ["actpass", "active", "passive"].contains(setup) else {
            throw Self.lacking("a=setup")
        }
        return [
            "a=ice-ufrag:\(user)", "a=ice-pwd:\(password)", "a=ice-options:trickle",
            "a=fingerprint:\(fingerprint)", "a=setup:\(setup)",
        ]
    }

    private static func lacking(_ what: String) -> PipelineError {
        PipelineError(
            .badDescription, message: "the session description has no valid \(what)",
            advice: "WebRTC with ICE and DTLS; plain RTP is not supported")
    }

    /// `sha-256 AB:CD:…`
    private static func isFingerprint(_ text: String) -> Bool {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].isToken("-") else { return false }
        let bytes = words[1].split(separator: ":", omittingEmptySubsequences: false)
        return (16...64).contains(bytes.count)
            && bytes.allSatisfy { $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }
    }

    private func media(of section: MediaSection, _ stream: PeerStream) -> [String] {
        let direction =
            switch (section.isSending, section.isReceiving) {
            case (true, true): "sendrecv"
            case (true, false): "sendonly"
            case (false, true): "recvonly"
            case (false, false): "inactive"
            }
        let encoding = stream.encoding
        var lines = ["a=\(direction)", "a=rtcp-mux"]
        if let number = stream.transportNumbers {
            lines.append("a=extmap:\(number) \(Self.transportNumbersURI)")
        }
        let channels = encoding.channels.map { "/\($0)" } ?? ""
        lines.append(
            "a=rtpmap:\(stream.payload) \(encoding.name)/\(encoding.clockRate)\(channels)")
        if stream.codec == .video(.h264) {
            // Any profile: a receiver decodes whichever profile arrives, and a sender is asked for
            // the simplest one.
            lines.append("a=fmtp:\(stream.payload) packetization-mode=1")
        }
        let feedback = section.payloads.first { $0.number == stream.payload }?.feedback ?? []
        for kind in PayloadFormat.usedFeedback where feedback.contains(kind) {
            guard kind != "transport-cc" || stream.transportNumbers != nil else { continue }
            lines.append("a=rtcp-fb:\(stream.payload) \(kind)")
        }
        if let resend = stream.resendPayload {
            lines += [
                "a=rtpmap:\(resend) rtx/\(encoding.clockRate)",
                "a=fmtp:\(resend) apt=\(stream.payload)",
            ]
        }
        return lines + sources(of: section)
    }

    /// Returns the lines that assign packets to the stream.
    private func sources(of section: MediaSection) -> [String] {
        var lines: [String] = []
        for value in section.values(of: "ssrc-group").prefix(8) {
            let words = value.split(separator: " ")
            guard words.count == 3, words[0] == "FID", words[1...].allSatisfy(Self.isSource)
            else { continue }
            lines.append("a=ssrc-group:\(value)")
        }
        for value in section.values(of: "ssrc").prefix(16) {
            let words = value.split(separator: " ", maxSplits: 1)
            guard words.count == 2, Self.isSource(words[0]), words[1].hasPrefix("cname:"),
                words[1].dropFirst(6).isToken("+/=-_.{}@")
            else { continue }
            lines.append("a=ssrc:\(value)")
        }
        return lines
    }

    /// Whether the text is a valid source number (SSRC). webrtcbin does not accept zero.
    private static func isSource(_ text: Substring) -> Bool { UInt32(text) ?? 0 != 0 }
}

// MARK: - Descriptions for peers

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
                result += Self.interoperable(sections[number + 1])
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
    static func interoperable(_ text: String) -> String {
        let sections = text.split(separator: "\r\nm=", omittingEmptySubsequences: false)
        return sections.enumerated().map { number, section in
            interoperable(section: number == 0 ? String(section) : "m=\(section)")
        }.joined()
    }

    private static func interoperable(section text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let types = lines.filter {
            $0.hasPrefix("a=rtpmap:") && $0.uppercased().contains(" H264/")
        }.map { $0.dropFirst("a=rtpmap:".count).prefix { $0 != " " } }
        // webrtcbin writes port 0 for bundled m-lines, which some peers take for a refusal.
        let isBundled = lines.contains("a=bundle-only")
        var result: [String] = []
        for line in lines where line != "a=bundle-only" {
            if isBundled, line.hasPrefix("m=") {
                result.append(line.replacing(" 0 ", with: " 9 ", maxReplacements: 1))
            } else if types.contains(where: { line.hasPrefix("a=fmtp:\($0) ") }) {
                result.append(line + lacking(in: line))
            } else {
                result.append(line)
            }
            for type in types where line.hasPrefix("a=rtpmap:\(type) ") {
                guard !lines.contains(where: { $0.hasPrefix("a=fmtp:\(type) ") }) else { continue }
                result.append("a=fmtp:\(type) \(lacking(in: "").dropFirst())")
            }
        }
        return result.map { $0 + "\r\n" }.joined()
    }

    private static func lacking(in line: String) -> String {
        ["packetization-mode=1", "profile-level-id=42e01f", "level-asymmetry-allowed=1"]
            .filter { parameter in !line.contains(parameter.prefix { $0 != "=" } + "=") }
            .map { ";\($0)" }.joined()
    }
}

extension MediaSection {
    /// Whether this is a data channel that is not refused.
    fileprivate var isDataChannel: Bool {
        kind == .application && !isRefused && transport.hasSuffix("DTLS/SCTP")
            && formats == ["webrtc-datachannel"]
    }

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
