import Foundation
import MediaBridgeJanus
import TestSupport

/// Up to eight users in one room. Each receives the video of all others.
///
/// The video consists of `NumberedPictures`; the upper three bits of a number identify the user. An additional
/// user, `guest`, may be present; its pictures have any numbers.
struct CrowdedRoom {
    let users: Int
    /// How many pictures of each other user each user waits for.
    private static let enough = 10

    /// Joins, prints `all seen` and `guest seen`, and leaves at the end of standard input.
    func run(at server: String, pictures: String) async throws {
        let seen = Observed<[Pair: Sight]>([:])
        var engines: [MediaEngine] = []
        for user in 0..<users {
            engines.append(try await join(user, at: server, pictures, seen))
        }
        await seen.wait { [users] seen in
            let others = seen.filter { $0.key.other < users }
            return others.count == users * (users - 1)
                && others.values.allSatisfy { $0.count >= Self.enough }
        }
        writeLine("all seen")
        let waiting = Task {
            await seen.wait { ($0[Pair(user: 0, other: users)]?.count ?? 0) >= Self.enough }
            if !Task.isCancelled { writeLine("guest seen") }
        }
        await Self.inputEnds()
        waiting.cancel()
        for (pair, sight) in seen.value where !sight.wrong.isEmpty {
            throw ProbeFailure("user\(pair.user) saw of \(pair.other): \(sight.wrong)")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for engine in engines { group.addTask { try await engine.end() } }
            try await group.waitForAll()
        }
    }

    private func join(
        _ user: Int, at server: String, _ pictures: String, _ seen: Observed<[Pair: Sight]>
    ) async throws -> MediaEngine {
        let engine = MediaEngine(transport: try JanusTransport(server: server))
        var encoder = VideoEncoderConfiguration()
        encoder.codec = .h264
        encoder.bitRate = 150_000
        try await engine.setVideoEncoderConfiguration(encoder)
        try await engine.setVideoSource(
            PipelineVideoSource(
                "multifilesrc location=\(pictures)/picture%d.i420 start-index=\(1000 + 32 * user) "
                    + "stop-index=\(1031 + 32 * user) loop=true ! rawvideoparse format=i420 width=160 "
                    + "height=120 framerate=10/1 ! identity sync=true"))
        for other in 0...users where other != user {
            let name = other == users ? "guest" : "user\(other)"
            try await engine.addVideoSink(
                Reader(Pair(user: user, other: other), isGuest: other == users, seen),
                to: .remote(UserID(name)))
        }
        try await engine.joinChannel("hall", userID: UserID("user\(user)"))
        return engine
    }

    private static func inputEnds() async {
        let isOver = Happening()
        Thread.detachNewThread {
            while readLine() != nil {}
            isOver.happen()
        }
        await isOver.wait()
    }

    struct Pair: Hashable {
        let user: Int
        let other: Int
    }

    /// The pictures that one user has received from another.
    struct Sight {
        var count = 0
        /// Numbers that belong to another user.
        var wrong: [Int] = []

        /// - Parameter user: `nil` for the guest.
        mutating func note(_ number: Int, of user: Int?) {
            count += 1
            if let user, number >> 5 != user { wrong.append(number) }
        }
    }

    /// Reads the numbers of pictures.
    private final class Reader: VideoSink {
        private let pair: Pair
        private let isGuest: Bool
        private let seen: Observed<[Pair: Sight]>

        init(_ pair: Pair, isGuest: Bool, _ seen: Observed<[Pair: Sight]>) {
            (self.pair, self.isGuest) = (pair, isGuest)
            self.seen = seen
        }

        func bufferType() -> VideoBufferType { .rawData }
        func pixelFormat() -> VideoPixelFormat { .I420 }

        func renderRawData(
            _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
        ) {
            // The bits are in the third of four rows of eight blocks.
            let (width, height) = (Int(size.width), Int(size.height))
            var number = 0
            for column in 0..<8 {
                let place = (height * 5 / 8) * width + width * (2 * column + 1) / 16
                number =
                    number * 2 + (rawData.load(fromByteOffset: place, as: UInt8.self) > 125 ? 1 : 0)
            }
            let (pair, read, user) = (self.pair, number, isGuest ? nil : self.pair.other)
            seen.change { $0[pair, default: Sight()].note(read, of: user) }
        }
    }
}
