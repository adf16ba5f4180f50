internal import MediaBasics

/// The bounds of a queue, which is full once it has reached one of them. `3s`, `100` and `20MB` as text.
public struct QueueLimit: Hashable, Sendable, CustomStringConvertible {
    /// The number of buffers: frames of raw media, encoded frames or parts of them. `nil`: no bound.
    public var buffers: Int?

    /// The size of the buffers in bytes; `nil`: no bound.
    public var bytes: Int?

    /// The time from the oldest buffer to the end of the newest one; `nil`: no bound.
    public var time: Duration?

    /// Creates a limit. Default: no bounds.
    public init(buffers: Int? = nil, bytes: Int? = nil, time: Duration? = nil) {
        self.buffers = buffers
        self.bytes = bytes
        self.time = time
    }

    /// Parses a duration with a unit (`3s`, `500ms`, `2m`), a size with a unit (`20MB`, `512kB`), or a number
    /// of buffers (`100`). `nil` for anything else, and for zero.
    public init?(_ text: String) {
        if let buffers = Int(text) {
            guard buffers > 0 else { return nil }
            self.init(buffers: buffers)
        } else if let time = Duration(text: text) {
            self.init(time: time)
        } else if text.hasSuffix("B"), let bytes = Int(size: text), bytes > 0 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// The bounds, separated by commas: `3.0 seconds, 100 buffers`.
    public var description: String {
        let bounds = [
            time.map { "\($0)" }, buffers.map { "\($0) buffers" }, bytes.map { "\($0) bytes" },
        ]
        return bounds.compactMap(\.self).joined(separator: ", ")
    }
}
