import Foundation
import MediaBridge

/// Pushes frames into a recorder without a bridge, at the pace of a camera.
struct PushingVictim {
    let order: VictimOrder
    let diary: Diary
    let configuration: Recorder.Configuration

    func run(_ report: inout VictimReport) async throws {
        let recorder = try Recorder(order.path, configuration: configuration)
        let listening = diary.listen(to: recorder)
        if order.startBefore == 0 { try recorder.start() }
        let wish = Wish()
        let pool = order.poolSize > 0 ? try CameraPool(size: order.poolSize) : nil
        let units = order.isCopy ? try await PushedUnits.make(for: order) : []
        let start = ContinuousClock.now
        for (index, picture) in order.pictures.enumerated() {
            try await Task.sleep(until: start + .seconds(1) * index / 30)
            if index > 0, index == order.startBefore { try recorder.start() }
            if order.isCopy {
                var unit = units[index]
                unit.liveTiming = Self.timing
                _ = diary.frame()
                recorder.consume(unit)
                continue
            }
            var frame: VideoFrame
            if let pool {
                guard let next = try await pool.next(at: picture.time ?? 0) else {
                    report.starved += 1
                    continue
                }
                frame = next
            } else {
                frame = try Self.frame(picture, index)
            }
            // Marks the frame as live: a slow consumer drops frames, and the push never blocks.
            frame.liveTiming = Self.timing
            _ = diary.frame()
            if order.hasPictures { recorder.consume(frame) }
            if order.hasSound { recorder.consume(try Self.sound(picture, index)) }
        }
        let fast = VideoFormat(.i420, width: 16, height: 16, frameRate: .init(1_000, 1))
        for index in 0..<order.fast {
            let time = MediaTime(value: Int64(index), timescale: 1_000)
            recorder.consume(try VideoFrame(fast, runningTime: time, duration: nil))
        }
        wish.note()
        do {
            try await recorder.stop()
        } catch { report.hasThrown = true }
        report.stopSeconds = wish.seconds
        await listening.value
        report.take(recorder.report)
    }

    private static let timing = LiveTiming(clockOrigin: .zero, latency: .zero)

    /// The audio of one frame's duration: a rough tone.
    private static func sound(_ picture: VictimOrder.Picture, _ index: Int) throws -> AudioFrame {
        let samples = (0..<1600).map { Int16(($0 / 50 + index) % 2 == 0 ? 4000 : -4000) }
        var frame = try AudioFrame(
            copying: samples, sampleRate: 48_000, channels: 1,
            runningTime: picture.time.map { MediaTime(seconds: $0) })
        frame.liveTiming = timing
        return frame
    }

    /// A frame whose grey level encodes its number.
    private static func frame(_ picture: VictimOrder.Picture, _ index: Int) throws -> VideoFrame {
        let format = VideoFormat(
            VideoPixelFormat(rawValue: picture.format), width: picture.width,
            height: picture.height)
        var frame = try VideoFrame(
            format, runningTime: picture.time.map { MediaTime(seconds: $0) },
            duration: MediaTime(seconds: 1.0 / 30))
        try frame.withMutablePlanes { planes in
            for plane in 0..<planes.count {
                let pixels = planes[plane]
                pixels.fill(UInt8(truncatingIfNeeded: index &* 3))
            }
        }
        return frame
    }
}
