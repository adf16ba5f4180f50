/// What GStreamer tells of a bridge besides: what gst-launch-1.0 prints with `-v` and `-t`, and warnings.
extension Bridge {
    /// Calls `listener` with every property that changes in the pipelines of captures and outputs: the
    /// negotiated caps of every pad, and what elements say in their `last-message`.
    ///
    /// On the thread that changes it (a streaming thread, mostly), so it must return at once. Before
    /// ``run()``. A recording's own encoders and muxers are not among them.
    public func onPropertyChange(_ listener: @escaping @Sendable (PropertyChange) -> Void) {
        for pipeline in pipelines {
            pipeline.onMessage { message in
                if case .property(let change) = message { listener(change) }
            }
            pipeline.watchProperties()
        }
    }

    /// Calls `listener` with the tags that elements find and that reach the ends of pipelines. On a
    /// streaming thread, so it must return at once. Before ``run()``.
    public func onTags(_ listener: @escaping @Sendable (FoundTags) -> Void) {
        for pipeline in pipelines {
            pipeline.onMessage { message in if case .tags(let tags) = message { listener(tags) } }
        }
    }

    private var pipelines: [Pipeline] {
        captures.map(\.pipeline) + outputs.map(\.output.pipeline)
    }

    static func tellWarnings(of pipeline: Pipeline, _ run: BridgeRun) {
        pipeline.onMessage { [run] message in
            // A missed link is told as the failure of its stream.
            if case .warning(let warning) = message, !warning.isMissedLink {
                run.tell(.warned(warning))
            }
        }
    }
}
