internal import CMediaBridge

extension Pipeline {
    /// Returns the element of that name, at any depth; `nil` if there is none.
    public func element(named name: String) -> Element? {
        gst_bin_get_by_name(bin, name).map { Element(adopting: $0) }
    }

    /// All elements, at any depth, in no particular order.
    public var elements: [Element] {
        iteratedObjects(gst_bin_iterate_recurse(bin)) {
            Element(retaining: $0.assumingMemoryBound(to: GstElement.self))
        }
    }

    /// The sinks of the pipeline itself; an `autovideosink`, not the sink in it.
    var outerSinks: [Element] {
        iteratedObjects(gst_bin_iterate_sinks(bin)) {
            Element(retaining: $0.assumingMemoryBound(to: GstElement.self))
        }
    }

    /// All appsinks, by name.
    package var appSinks: [String: AppSink] {
        Dictionary(
            elements.compactMap { element in AppSink(element).map { (element.name, $0) } },
            uniquingKeysWith: { a, _ in a })
    }

    /// All appsrcs, by name.
    package var appSources: [String: AppSource] {
        Dictionary(
            elements.compactMap { element in
                AppSource(element, queries: queries).map { (element.name, $0) }
            },
            uniquingKeysWith: { a, _ in a })
    }

    /// Whether any source is live, for example a device or a test source with `is-live`. Only
    /// sources are queried: visualisers always report that they are live, even if their input is
    /// not. True if there is no source, or if a source does not answer the query.
    package var hasLiveSource: Bool {
        let answers = elements.compactMap { element -> Bool? in
            if element.bool("force-live") { return true }
            guard !element.klass.contains("Bin"), element.klass.contains("Source") else {
                return nil
            }
            return element.pad("src")?.isLive ?? true
        }
        return answers.isEmpty || answers.contains(true)
    }
}
