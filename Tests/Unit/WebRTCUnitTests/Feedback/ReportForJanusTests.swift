import TestSupport
import Testing

@testable import MediaBridgeWebRTC

@Suite struct ReportForJanusTests {
    private static let (sound, pictures): (UInt32, UInt32) = (0x1111_1111, 0x2222_2222)

    /// A block about a source; `since` in units of 1/65536 s.
    private static func block(_ source: UInt32, since: UInt32) -> [UInt8] {
        bytes(source) + [1, 0, 0, 2] + bytes(1000) + bytes(9) + bytes(0xabcd_0000) + bytes(since)
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private static func report(_ blocks: [[UInt8]]) -> [UInt8] {
        [0x80 | UInt8(blocks.count), 201, 0, UInt8(1 + 6 * blocks.count)] + bytes(7)
            + blocks.flatMap { $0 }
    }

    private static func adjusted(_ packet: [UInt8]) -> [UInt8] {
        var packet = packet
        packet.withUnsafeMutableBytes { ReportForJanus.adjust($0) { $0 == pictures } }
        return packet
    }

    @Test func videoBlockComesFirst() {
        let packet = Self.report([
            Self.block(Self.sound, since: 0), Self.block(Self.pictures, since: 0),
        ])
        let reports = ControlPacket(Self.adjusted(packet)).reports
        #expect(reports.map(\.source) == [Self.pictures, Self.sound])
        #expect(reports.allSatisfy { $0.lost == 2 && $0.jitter == 9 })
    }

    @Test func roundTripTimeIsNeverZero() {
        let packet = Self.report([Self.block(Self.pictures, since: 65536)])
        let report = ControlPacket(Self.adjusted(packet)).reports[0]
        #expect(report.sinceLastReport == 65536 - 131)
        #expect(report.lastReport == 0xabcd_0000)
        let early = Self.report([Self.block(Self.pictures, since: 100)])
        #expect(ControlPacket(Self.adjusted(early)).reports[0].sinceLastReport == 0)
    }

    @Test func packetsAfterAReportAreUnchanged() {
        let request: [UInt8] =
            [0x81, 205, 0, 3] + Self.bytes(7) + Self.bytes(Self.pictures) + [0, 5, 0, 1]
        let packet = Self.report([Self.block(Self.pictures, since: 500)]) + request
        #expect(Self.adjusted(packet).suffix(request.count).elementsEqual(request))
    }

    @Test(arguments: 1...10) func randomBytesAreHandled(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Makes it look like a report more often than by chance.
            if bytes.count > 4, Bool.random(using: &random) {
                bytes.replaceSubrange(0..<3, with: [0x80 | bytes[0] & 0x1f, 201, 0])
                bytes[3] = UInt8.random(in: 0...24, using: &random)
            }
            let sources = ControlPacket(bytes).reports.map(\.source)
            let after = ControlPacket(Self.adjusted(bytes)).reports.map(\.source)
            #expect(after.sorted() == sources.sorted())
        }
    }
}
