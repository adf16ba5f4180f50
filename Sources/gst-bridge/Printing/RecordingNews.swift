import MediaBridge

/// Prints the events of a recording.
enum RecordingNews {
    static func tell(_ event: RecorderEvent) {
        switch event {
        case .fileStarted(let path, .started): Terminal.say("recording \(path)")
        case .fileStarted(let path, .segment): Terminal.say("recording \(path)")
        case .fileStarted(let path, .formatChanged):
            Terminal.say("the pictures changed their size or format: recording \(path)")
        case .fileStarted(let path, .streamAppeared):
            Terminal.say("another stream came: recording \(path)")
        case .fileRemoved(let path): Terminal.say("removed \(path)")
        case .orientationLost(let path):
            Terminal.say(
                "warning: players do not turn the pictures in \(path), because only .mp4 stores how; record into "
                    + ".mp4, or put decodebin at the end of the capture")
        case .streamMissing(let name):
            Terminal.say("the stream \(name) does not come: recording without it")
        case .diskNearlyFull(let free):
            Terminal.say("the disk is nearly full: \(Text.bytes(free)) left")
        case .stalled(let time):
            Terminal.say("the disk does not answer: nothing was written for \(time)")
        default: break
        }
    }
}
