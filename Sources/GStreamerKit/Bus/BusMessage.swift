/// What a pipeline says on its bus, as a value.
public enum BusMessage: Sendable {
    /// Every sink has seen the end of its stream.
    case endOfStream
    case error(PipelineError)
    case warning(PipelineError)
    /// The pipeline itself, not one of its elements, reached a state.
    case stateChanged(PipelineState)
    /// A change to PAUSED or PLAYING is complete in every element.
    case asyncDone
    /// An element's latency changed. The pipeline has dealt with it already.
    case latencyChanged
    /// A network source fills its buffers: percent.
    case buffering(Int)
    /// An element's own message, as the text of its structure.
    case element(path: String, structure: String)
    /// A property changed: the caps of a pad, mostly. Only after ``Pipeline/watchProperties()``.
    case property(PropertyChange)
    /// Tags reached a sink, or an element found them.
    case tags(FoundTags)
    /// Any other message, by GStreamer's name for its type.
    case other(String)
}

/// A property of an element or a pad that changed, as gst-launch-1.0 prints it with `-v`.
public struct PropertyChange: Hashable, Sendable, CustomStringConvertible {
    /// `/GstPipeline:pipeline0/GstCapsFilter:capsfilter0.GstPad:src`
    public let path: String
    /// `caps`
    public let name: String
    /// As GStreamer writes it.
    public let value: String

    /// `/GstPipeline:pipeline0/GstCapsFilter:capsfilter0.GstPad:src: caps = video/x-raw, …`
    public var description: String { "\(path): \(name) = \(value)" }
}

/// Tags, as gst-launch-1.0 prints them with `-t`.
public struct FoundTags: Hashable, Sendable, CustomStringConvertible {
    public struct Tag: Hashable, Sendable {
        /// For a reader: `title`, `video codec`.
        public let name: String
        public let values: [String]
    }
    /// `element "fakesink0"`, `pad "demux:src_0"`
    public let finder: String
    public let tags: [Tag]

    /// A line for the finder, and one for each value.
    public var description: String {
        let lines = tags.flatMap { tag in
            tag.values.enumerated().map { index, value in
                let name = index == 0 ? tag.name : ""
                return String(repeating: " ", count: max(0, 16 - name.count)) + "\(name): \(value)"
            }
        }
        return (["FOUND TAG      : found by \(finder)."] + lines).joined(separator: "\n")
    }
}

/// GStreamer's four states.
public enum PipelineState: Int, Sendable, Comparable {
    case null = 1
    case ready
    case paused
    case playing

    public static func < (a: PipelineState, b: PipelineState) -> Bool { a.rawValue < b.rawValue }
}
