package import MediaBridge

/// Prints the events of a recording.
package enum RecordingNews {
    package static func tell(_ event: RecorderEvent) {
        switch event {
        case .fileStarted(let path, .started): Terminal.say("recording \(path)")
        case .fileStarted(let path, .segment): Terminal.say("recording \(path)")
        case .fileStarted(let path, .formatChanged):
            Terminal.say("the video changed its size or format: recording \(path)")
        case .fileStarted(let path, .streamAppeared):
            Terminal.say("another stream appeared: recording \(path)")
        case .fileRemoved(let path): Terminal.say("removed \(path)")
        case .orientationLost(let path):
            Terminal.say(
                "warning: players do not rotate the video in \(path): only .mp4 stores its "
                    + "orientation. Try: record to .mp4, or put decodebin at the end of the capture"
            )
        case .streamMissing(let name):
            Terminal.say("the stream \(name) delivers nothing: recording without it")
        case .diskNearlyFull(let free):
            Terminal.say("the disk is nearly full: \(Text.bytes(free)) left")
        case .stalled(let time):
            Terminal.say("the disk does not respond: nothing was written for \(time)")
        default: break
        }
    }
}
