import TestSupport
import Testing

@testable import MediaBridgeWebRTC

/// The parsing of RTCP packets.
struct ControlPacketTests {
    private static func packet(_ type: UInt8, count: UInt8, _ content: [UInt8]) -> [UInt8] {
        let words = content.count / 4
        return [0x80 | count, type, UInt8(words >> 8), UInt8(words & 255)] + content
    }
    private static let block: [UInt8] = [
        0, 0, 0, 7, 64, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 90, 1, 2, 3, 4, 0, 1, 0, 0,
    ]

    @Test func reportsAreRead() throws {
        let receiver = Self.packet(201, count: 1, [0, 0, 0, 1] + Self.block)
        let sender = Self.packet(200, count: 1, [UInt8](repeating: 0, count: 24) + Self.block)
        for bytes in [receiver, sender, sender.dropLast(52) + receiver] {
            let report = try #require(ControlPacket(Array(bytes)).reports.last)
            #expect(report.source == 7)
            #expect(report.lostFraction == 0.25)
            #expect((report.lost, report.jitter) == (9, 90))
            #expect((report.lastReport, report.sinceLastReport) == (0x0102_0304, 65_536))
        }
    }

    @Test func duplicatePacketsAreNotNegativeLoss() {
        var block = Self.block
        block[5...7] = [255, 255, 254]
        #expect(
            ControlPacket(Self.packet(201, count: 1, [0, 0, 0, 1] + block)).reports.first?.lost == 0
        )
    }

    @Test func feedbackOfACompoundPacketIsRead() {
        let head: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 7]
        let estimate = head + Array("REMB".utf8) + [1, 2 << 2 | 1, 0, 1, 0, 0, 0, 7]
        let packet = ControlPacket(
            Self.packet(201, count: 0, [0, 0, 0, 1])
                + Self.packet(205, count: 1, head + [0, 5, 0, 0b101, 0, 50, 0, 0])
                + Self.packet(206, count: 1, head) + Self.packet(206, count: 15, estimate))
        #expect(packet.resendRequests == 4)
        #expect(packet.asksForKeyFrame)
        #expect(packet.estimate == 65_537 << 2)
        let full = head + Array("REMB".utf8) + [1, 0xff, 0xff, 0xff, 0, 0, 0, 7]
        #expect(ControlPacket(Self.packet(206, count: 15, full)).estimate == .max)
    }

    @Test func truncatedPacketsAreIgnored() {
        let whole = Self.packet(201, count: 2, [0, 0, 0, 1] + Self.block + Self.block)
        for count in whole.indices {
            #expect(ControlPacket(Array(whole.prefix(count))).reports.isEmpty)
        }
        // The header announces two blocks, but the packet has one.
        let less = Self.packet(201, count: 2, [0, 0, 0, 1] + Self.block)
        #expect(ControlPacket(less).reports.count == 1)
    }

    @Test func randomBytesAreHandled() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...120, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if bytes.count > 4, Bool.random(using: &random) {
                bytes[0] = 0x80 | bytes[0] & 0x1f
                bytes[1] = 200 + bytes[1] % 8
                (bytes[2], bytes[3]) = (0, bytes[3] % 30)
            }
            let packet = ControlPacket(bytes)
            #expect(packet.reports.count <= bytes.count / 24)
            #expect(packet.estimate ?? 0 >= 0)
            #expect(packet.reports.allSatisfy { (0...1).contains($0.lostFraction) && $0.lost >= 0 })
        }
    }
}
