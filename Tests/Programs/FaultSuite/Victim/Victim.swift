import Foundation
import Glibc
import MediaBridge

/// The process under test, which records while a fault happens. It reports each message at once with
/// a single write, so that all messages before a crash are known.
struct Victim: Sendable {
    let order: VictimOrder
    private let diary = Diary()

    init(json: String) throws {
        order = try JSONDecoder().decode(VictimOrder.self, from: Data(json.utf8))
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        if order.sizeLimit > 0 {
            var limit = rlimit(rlim_cur: rlim_t(order.sizeLimit), rlim_max: rlim_t(order.sizeLimit))
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        }
        var report = VictimReport()
        if order.capture.isEmpty {
            try await PushingVictim(order: order, diary: diary, configuration: configuration)
                .run(&report)
        } else {
            try await BridgingVictim(order: order, diary: diary, configuration: configuration)
                .run(&report)
        }
        report.events = diary.events
        let text = try JSONEncoder().encode(report)
        diary.write("report \(String(decoding: text, as: UTF8.self))")
    }

    private var configuration: Recorder.Configuration {
        var configuration = Recorder.Configuration()
        if order.isCopy {
            configuration.video = .copy
            configuration.audio = order.hasSound ? .copy : nil
        } else {
            configuration.video = VideoEncoding(bitRate: order.bitrate > 0 ? order.bitrate : nil)
            configuration.audio = order.hasSound ? AudioEncoding() : nil
        }
        configuration.stallTimeout = .seconds(order.stallTimeout)
        configuration.isDurable = order.isDurable
        configuration.isDated = true
        if order.waits { configuration.whenFull = .wait }
        if order.preRoll > 0 { configuration.preRoll = .seconds(order.preRoll) }
        if order.segment > 0 {
            configuration.segments = RecordingSegments(
                length: .seconds(order.segment), keepFiles: order.keep)
        }
        if order.reserve >= 0 { configuration.reserve = order.reserve }
        return configuration
    }
}

extension VictimReport {
    mutating func take(_ report: RecorderReport) {
        ended = report.ended?.rawValue
        failure = report.failure.map { Failure(code: "\($0.code)", message: $0.message) }
        offered = report.video?.offered ?? 0
        written = report.video?.written ?? 0
        repeated = report.video?.repeated ?? 0
        for cause in DropCause.allCases {
            guard let count = report.video?.dropped[cause], count != 0 else { continue }
            dropped[cause.rawValue] = count
        }
        files = report.files.map {
            File(
                path: $0.path, frames: $0.frames, seconds: MediaTime($0.duration).seconds,
                hasFailed: $0.failure != nil)
        }
    }
}
