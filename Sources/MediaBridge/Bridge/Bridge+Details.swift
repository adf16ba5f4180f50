/// Further messages of GStreamer: what gst-launch-1.0 prints with `-v` and `-t`, and warnings.
extension Bridge {
    /// Calls `listener` with every property that changes in the pipelines of captures and outputs:
    /// the negotiated caps of every pad, and the `last-message` texts of elements.
    ///
    /// Runs on the thread that changes the property (usually a streaming thread), so it must return
    /// at once. Must be called before ``run()``. A recording's own encoders and muxers are not
    /// included.
    package func onPropertyChange(_ listener: @escaping @Sendable (PropertyChange) -> Void) {
        for pipeline in pipelines {
            pipeline.onMessage { message in
                if case .property(let change) = message { listener(change) }
            }
            pipeline.watchProperties()
        }
    }

    /// Calls `listener` with the tags that elements find and that reach the ends of pipelines. Runs
    /// on a streaming thread, so it must return at once. Must be called before ``run()``.
    package func onTags(_ listener: @escaping @Sendable (FoundTags) -> Void) {
        for pipeline in pipelines {
            pipeline.onMessage { message in if case .tags(let tags) = message { listener(tags) } }
        }
    }

    private var pipelines: [Pipeline] {
        captures.map(\.pipeline) + outputs.map(\.output.pipeline)
    }

    static func tellWarnings(of pipeline: Pipeline, _ run: BridgeRun) {
        pipeline.onMessage { [run] message in
            // A missed link is reported as the failure of its stream.
            if case .warning(let warning) = message, !warning.isMissedLink {
                run.tell(.warned(warning))
            }
        }
    }
}
