extension Framebuffer {
    /// Returns the error for a pipeline that uses DirectFB's sink without a framebuffer; `nil` if
    /// the pipeline can be played.
    static func refusal(of pipeline: Pipeline) -> PipelineError? {
        guard !isThere, let element = pipeline.elements.first(where: { $0.factoryName == sink })
        else { return nil }
        return PipelineError(
            .resourceFailed, element: element.path,
            message: "\(sink) needs a framebuffer (/dev/fb0), and none can be opened",
            advice: "use autovideosink or ximagesink with a display (xvfb-run provides one), or "
                + "set DFBARGS=system=… to select another DirectFB system")
    }
}
