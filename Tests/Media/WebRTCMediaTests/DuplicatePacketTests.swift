import GStreamerKit
import TestSupport
import Testing

@testable import MediaBridgeWebRTC

/// Numbers in RTP header extensions.
struct DuplicatePacketTests {
    /// An RTP packet with elements of a header extension.
    private static func packet(_ elements: [UInt8], profile: [UInt8] = [0xbe, 0xde]) -> [UInt8] {
        var elements = elements
        while elements.count % 4 != 0 { elements.append(0) }
        return [0x90, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9] + profile
            + [0, UInt8(elements.count / 4)] + elements + [7, 7, 7]
    }

    private static let cases: [(sent: [UInt8], came: [UInt8])] = [
        (packet([0x51, 0, 5]), packet([0x51, 0, 5])),
        // A repeated number, by itself and behind another element.
        (packet([0x51, 0, 5]), packet([0, 0, 0])),
        (packet([0x10, 1, 0, 0x51, 0, 5, 0x20, 2]), packet([0x10, 1, 0, 0, 0, 0, 0x20, 2])),
        // Two elements with one identifier: if only the first were removed, the second would count.
        (packet([0x51, 0, 6, 0x51, 0, 6]), packet([0x51, 0, 6, 0, 0, 0])),
        // An element without a number, and other extensions.
        (packet([0x52, 0, 5, 5]), packet([0, 0, 0, 0])),
        (packet([0x61, 0, 5]), packet([0x61, 0, 5])),
        (packet([5, 2, 0, 5], profile: [0x10, 0]), packet([5, 2, 0, 5], profile: [0x10, 0])),
        // Truncated packets.
        ([0x90, 96, 0, 1], [0x90, 96, 0, 1]),
        (Array(packet([0x51, 0, 5]).dropLast(6)), Array(packet([0x51, 0, 5]).dropLast(6))),
    ]

    @Test func repeatedNumberIsRemovedFromItsPacket() async throws {
        let pipeline = try Pipeline(
            parsing: "appsrc name=in format=time ! identity name=pass ! appsink name=out sync=false"
        )
        let pass = try #require(pipeline.element(named: "pass")?.pad("sink"))
        let seen = SeenNumbers()
        pass.filterNumbers(ofExtension: 5) { seen.isNew($0) }
        let source = try #require(pipeline.appSources["in"])
        let sink = try #require(pipeline.appSinks["out"])
        let came = Observed<[[UInt8]]>([])
        sink.configure(depth: 4, isPaced: false)
        sink.setHandlers(
            onSample: {
                guard let buffer = sink.tryPull()?.takeBuffer(), let map = MappedBuffer(buffer)
                else { return false }
                let bytes = map.bytes.withUnsafeBytes { Array($0) }
                came.change { $0.append(bytes) }
                return true
            }, onEnd: {})
        defer { sink.removeHandlers() }
        try await pipeline.setState(.playing)
        for (sent, _) in Self.cases {
            guard let buffer = Buffer.copying(sent) else { fatalError("no memory") }
            let isTaken = source.push(buffer)
            #expect(isTaken)
        }
        await came.wait { $0.count == Self.cases.count }
        #expect(came.value == Self.cases.map(\.came))
        try await pipeline.setState(.null)
    }
}
