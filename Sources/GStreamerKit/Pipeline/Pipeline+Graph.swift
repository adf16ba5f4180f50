internal import CMediaBridge
internal import Glibc

extension Pipeline {
    /// Writes the pipeline's graph for each state it reaches and each error, as gst-launch does,
    /// into the directory that `GST_DEBUG_DUMP_DOT_DIR` names; does nothing if it is unset.
    func dumpGraphs() {
        guard let directory = getenv("GST_DEBUG_DUMP_DOT_DIR"), directory.pointee != 0 else {
            return
        }
        onMessage { [control, handle, ended] message in
            let moment: String
            switch message {
            case .stateChanged(let state): moment = "\(state)"
            case .error: moment = "error"
            default: return
            }
            control.post {
                guard !ended.flag.load(ordering: .relaxed) else { return }
                let bin = UnsafeMutableRawPointer(handle.pointer).assumingMemoryBound(
                    to: GstBin.self)
                gst_debug_bin_to_dot_file_with_ts(
                    bin, GST_DEBUG_GRAPH_SHOW_ALL, "mediabridge.\(moment)")
            }
        }
    }

    /// The pipeline as a graph in the DOT language, with the present caps and properties.
    public var dot: String {
        guard let text = gst_debug_bin_to_dot_data(bin, GST_DEBUG_GRAPH_SHOW_ALL) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
