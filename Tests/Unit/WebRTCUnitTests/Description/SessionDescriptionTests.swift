import TestSupport
import Testing

@testable import MediaBridgeWebRTC

/// Parsing of a peer's session description, and the part that is forwarded.
struct SessionDescriptionTests {
    private static func text(_ lines: [String]) -> String {
        lines.joined(separator: "\r\n") + "\r\n"
    }
    private static let h264: [PeerStream.Codec] = [.video(.h264)]
    private static let all: [PeerStream.Codec] = [.video(.h264), .video(.vp8)]

    @Test func midOfAStreamIsFound() throws {
        func mid(of kind: MediaSection.Kind, in text: String) throws -> String? {
            try SessionDescription(text).media.first { $0.kind == kind }?.mid
        }
        let text =
            "v=0\r\na=mid:no\r\nm=audio 9 X 97\r\na=mid:a1\r\nm=video 9 X 96\r\nc=x\r\na=mid:v1\r\nm=video 9 X 96\r\na=mid:v2\r\n"
        #expect(try mid(of: .audio, in: text) == "a1")
        #expect(try mid(of: .video, in: text) == "v1")
        #expect(try mid(of: .application, in: text) == nil)
        #expect(try mid(of: .video, in: "v=0\r\nm=video 9 X 1\r\nm=audio 9 X 2\r\na=mid:a") == nil)
    }

    @Test func chromiumsOfferIsRead() throws {
        let offer = try SessionDescription(Self.text(ForeignOffers.chromiumViewer))
        #expect(offer.media.map(\.kind) == [.video, .audio, .application])
        #expect(offer.media.map(\.mid) == ["0", "1", "2"])
        #expect(offer.media[0].isReceiving)
        #expect(!offer.media[0].isSending)
        let stream = try #require(offer.stream(of: Self.h264, .video, isSending: true))
        let format = try #require(offer.media[0].payloads.first { $0.number == stream.payload })
        #expect(format.parameters["packetization-mode"] == "1")
        #expect(format.parameters["profile-level-id"] == "42e01f")
        let resend = try #require(stream.resendPayload)
        #expect(offer.media[0].payloads.first { $0.number == resend }?.resends == stream.payload)
        #expect(stream.estimatesBitRate)
        #expect(stream.transportNumbers != nil)
        #expect(offer.stream(of: Self.h264, .video, isSending: false) == nil)
        #expect(offer.stream(of: [.audio(.opus)], .audio, isSending: true)?.line == 1)
    }

    @Test func payloadNumbersOfAiortcAreUsed() throws {
        let offer = try SessionDescription(Self.text(ForeignOffers.aiortcSender))
        let h264 = try #require(offer.stream(of: Self.h264, .video, isSending: false))
        #expect((h264.payload, h264.resendPayload) == (101, 102))
        let vp8 = try #require(offer.stream(of: [.video(.vp8)], .video, isSending: false))
        #expect((vp8.payload, vp8.resendPayload) == (97, 98))
        #expect(vp8.transportNumbers == nil)
    }

    @Test(arguments: ["\r\n", "\n", "\r"]) func linesEndInAnyWay(end: String) throws {
        let text = ForeignOffers.aiortcViewer.joined(separator: end) + end
        #expect(try SessionDescription(text).media.count == 2)
    }

    @Test(arguments: [
        "", "v=0x", "hello", "v=0\r\nhello", "v=0\r\nm=video", "v=0\r\nm=video 70000 A 1",
        "v=0\r\nm=vi\u{e9}deo 9 A 1", "v=0\r\nm=video 9 A;B 1", "v=0\r\nm=video -1 A 1",
        "v=0\r\n\u{0}",
        "v=0\r\n=", "v=0" + String(repeating: "\r\nm=video 9 A 1", count: 65),
        "v=0" + String(repeating: "\r\na=x", count: 2001),
        "v=0\r\n" + String(repeating: "a=xx\r\n", count: 50_000),
    ]) func invalidDescriptionIsRefused(text: String) {
        let error = #expect(throws: PipelineError.self) { try SessionDescription(text) }
        #expect(error?.code == .badDescription)
    }

    /// The attributes are read once, regardless of the number of payload types, and the stored data
    /// is bounded.
    @Test func attributesOfAnMLineAreParsedOnce() throws {
        let lines = ["rtcp-fb": "* nack pli", "fmtp": "96 a=1", "rtpmap": "96 VP8/90000"]
        let attributes = (0..<2000).flatMap { _ in
            lines.map { SessionDescription.Attribute(name: $0.key, value: $0.value) }
        }
        let visits = Counter()
        let table = PayloadTable(
            attributes.lazy.map { attribute in
                visits.count += 1
                return attribute
            })
        let formats = (0..<UInt8(128)).map { table.format($0) }
        #expect(visits.count == attributes.count)
        #expect(formats.compactMap { $0?.number } == [0, 8, 96])
        #expect(formats[96]?.feedback == ["nack pli"])
    }

    private final class Counter {
        var count = 0
    }

    @Test func cleanedDescriptionKeepsOnlyTheUsedPayloads() throws {
        let offer = try SessionDescription(Self.text(ForeignOffers.chromiumViewer))
        let streams = [
            offer.stream(of: Self.all, .video, isSending: true),
            offer.stream(of: [.audio(.opus)], .audio, isSending: true),
        ].compactMap { $0 }
        let (text, lines) = try offer.cleaned(for: streams)
        #expect(lines == [0, 1, 2])
        let cleaned = try SessionDescription(text)
        #expect(cleaned.media.map(\.mid) == ["0", "1", "2"])
        #expect(cleaned.media[0].payloads.map(\.encoding) == ["H264", "RTX"])
        #expect(cleaned.media[1].payloads.map(\.encoding) == ["OPUS"])
        // Names that hide addresses are useless.
        #expect(!text.contains(".local"))
        #expect(text.utf8.count < 2500)
    }

    /// aiortc has one transport per m-line, and webrtcbin rejects a bundle with several.
    @Test func bundleUsesTheTransportOfItsFirstLine() throws {
        let offer = try SessionDescription(Self.text(ForeignOffers.aiortcSender))
        let credentials = offer.media.map { $0.value(of: "ice-ufrag") }
        #expect(credentials[0] != credentials[1])
        let streams = [
            offer.stream(of: Self.all, .video, isSending: false),
            offer.stream(of: [.audio(.opus)], .audio, isSending: false),
        ].compactMap { $0 }
        let cleaned = try SessionDescription(offer.cleaned(for: streams).text)
        #expect(
            cleaned.media.map { $0.value(of: "ice-ufrag") } == [credentials[0], credentials[0]])
        #expect(cleaned.media.map { $0.value(of: "candidate") != nil } == [true, false])
        // The second m-line is the first one in use.
        let audio = try SessionDescription(offer.cleaned(for: Array(streams.suffix(1))).text)
        #expect(audio.media.map { $0.value(of: "ice-ufrag") } == [credentials[1]])
        #expect(audio.media.map { $0.value(of: "candidate") != nil } == [true])
    }

    @Test(arguments: ["a=mid", "a=ice-pwd", "a=ice-ufrag", "a=fingerprint"])
    func requiredAttributesAreCheckedBeforeWebrtcbin(missing: String) throws {
        let lines = ForeignOffers.aiortcViewer.filter { !$0.hasPrefix(missing) }
        let offer = try SessionDescription(Self.text(lines))
        let encoding = try #require(PayloadEncoding.of(.video(.vp8)))
        let stream = PeerStream(encoding: encoding, payload: 97, line: 0)
        let error = #expect(throws: PipelineError.self) { try offer.cleaned(for: [stream]) }
        #expect(error?.code == .badDescription)
    }

    /// Line breaks and the separators of caps are not passed on.
    @Test(arguments: 1...3) func onlyValidatedLinesAreForwarded(seed: UInt64) throws {
        let offers = ForeignOffers.viewers + ForeignOffers.senders
        let known: Set<Character> = Set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        )
        .union(" =:/.-_+;*{}@,")
        var mutator = OfferMutator(seed: seed)
        var count = 0
        for _ in 0..<400 {
            let bytes = mutator.broken(offers)
            guard let text = String(validating: bytes, as: UTF8.self),
                let offer = try? SessionDescription(text)
            else { continue }
            for isSending in [true, false] {
                let streams = [
                    offer.stream(of: Self.all, .video, isSending: isSending),
                    offer.stream(of: [.audio(.opus)], .audio, isSending: isSending),
                ].compactMap { $0 }
                guard let (text, lines) = try? offer.cleaned(for: streams) else { continue }
                count += 1
                for line in text.split(separator: "\r\n") {
                    #expect(line.dropFirst().hasPrefix("="), "\(line)")
                    #expect(known.isSuperset(of: line), "\(line)")
                }
                let cleaned = try SessionDescription(text)
                #expect(cleaned.media.count == lines.count)
                #expect(cleaned.media.joinedPayloads.allSatisfy { (0..<128).contains($0) })
            }
        }
        #expect(count > 50)
    }
}

extension [MediaSection] {
    fileprivate var joinedPayloads: [Int] { flatMap { $0.payloads.map(\.number) } }
}
