internal import CMediaBridge

extension Caps {
    /// Sample rate in Hz and number of channels of the first structure; zero for a field that is
    /// missing or not a fixed integer.
    package var soundLayout: (rate: Int, channels: Int) {
        guard gst_caps_get_size(pointer) > 0, let structure = gst_caps_get_structure(pointer, 0)
        else { return (0, 0) }
        var rate: gint = 0
        var channels: gint = 0
        gst_structure_get_int(structure, "rate", &rate)
        gst_structure_get_int(structure, "channels", &channels)
        return (Int(rate), Int(channels))
    }
}
