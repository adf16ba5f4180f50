import Glibc
import MediaBridge
import Synchronization

/// The victim's progress messages: one line and one write each.
final class Diary: Sendable {
    private let reported = Mutex<[String]>([])
    private let frames = Atomic<Int>(0)

    /// The recorder's events so far.
    var events: [String] { reported.withLock { $0 } }

    func write(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in
            _ = Glibc.write(1, bytes.baseAddress, bytes.count)
        }
    }

    /// Reports that a frame is offered.
    ///
    /// - Parameter dropped: The number of earlier frames that the recorder has dropped. They are left out of the report.
    /// - Returns: Its number, from 1.
    func frame(after dropped: Int = 0) -> Int {
        let number = frames.add(1, ordering: .relaxed).newValue
        write("frame \(number - dropped)")
        return number
    }

    func note(_ event: RecorderEvent) {
        let name: String
        switch event {
        case .fileStarted(_, let reason): name = "fileStarted:\(reason.rawValue)"
        case .fileFinished(let file):
            name = file.failure == nil ? "fileFinished" : "fileFailed"
        case .fileRemoved: name = "fileRemoved"
        case .marked: name = "marked"
        case .paused: name = "paused"
        case .resumed: name = "resumed"
        case .keyFrameAwaited: name = "keyFrameAwaited"
        case .orientationLost: name = "orientationLost"
        case .streamMissing(let stream): name = "streamMissing:\(stream)"
        case .diskNearlyFull: name = "diskNearlyFull"
        case .stalled: name = "stalled"
        case .warning(let error): name = "warning:\(error.code)"
        case .failed(let error): name = "failed:\(error.code)"
        case .finished: name = "finished"
        }
        reported.withLock { $0.append(name) }
        write("event \(name)")
    }

    /// Reports a recorder's events until the last one.
    func listen(to recorder: Recorder) -> Task<Void, Never> {
        let events = recorder.events
        return Task { for await event in events { note(event) } }
    }
}
