/// A message of a pipeline's bus, as a value.
public enum BusMessage: Sendable {
    /// Every sink has received EOS.
    case endOfStream
    /// An element, or the pipeline itself, has failed.
    case error(PipelineError)
    /// An element has posted a warning.
    case warning(PipelineError)
    /// The pipeline itself, not one of its elements, reached a state.
    case stateChanged(PipelineState)
    /// A change to PAUSED or PLAYING is complete in every element.
    case asyncDone
    /// An element's latency changed. The pipeline has already handled it.
    case latencyChanged
    /// A network source fills its buffers, in percent.
    case buffering(Int)
    /// An element message, with the element's path and the text of its structure.
    case element(path: String, structure: String)
    /// A property changed, usually the caps of a pad. Only while a bridge watches properties.
    case property(PropertyChange)
    /// Tags reached a sink, or an element found them.
    case tags(FoundTags)
    /// Any other message, by GStreamer's name for its type.
    case other(String)
}

/// A property of an element or a pad that changed, as gst-launch-1.0 prints it with `-v`.
public struct PropertyChange: Hashable, Sendable, CustomStringConvertible {
    /// Path of the element or pad, for example
    /// `/GstPipeline:pipeline0/GstCapsFilter:capsfilter0.GstPad:src`
    public let path: String
    /// Name of the property, for example `caps`.
    public let name: String
    /// The new value, as GStreamer writes it.
    public let value: String

    /// One line, for example
    /// `/GstPipeline:pipeline0/GstCapsFilter:capsfilter0.GstPad:src: caps = video/x-raw, …`
    public var description: String { "\(path): \(name) = \(value)" }
}

/// Tags, as gst-launch-1.0 prints them with `-t`.
public struct FoundTags: Hashable, Sendable, CustomStringConvertible {
    /// One tag with its values.
    public struct Tag: Hashable, Sendable {
        /// Human-readable name: `title`, `video codec`.
        public let name: String
        /// The values as text, as GStreamer writes them.
        public let values: [String]
    }
    /// The object that found the tags: `element "fakesink0"`, `pad "demux:src_0"`.
    public let finder: String
    /// The tags, in the order of GStreamer's tag list.
    public let tags: [Tag]

    /// One line for the finder, and one for each value.
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
    /// No resources are held.
    case null = 1
    /// Devices and files are open; no data flows.
    case ready
    /// The first data has arrived, except from live sources; the clock stands still.
    case paused
    /// Data flows, and the clock runs.
    case playing

    /// Compares states in the order NULL, READY, PAUSED, PLAYING.
    public static func < (a: PipelineState, b: PipelineState) -> Bool { a.rawValue < b.rawValue }
}
