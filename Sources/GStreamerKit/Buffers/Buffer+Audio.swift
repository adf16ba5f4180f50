internal import CMediaBridge

extension Buffer {
    /// Samples of each channel, where this is sound of a format.
    public func audioSampleCount(_ info: AudioInfo) -> Int {
        var layout = info.info
        return Int(mb_audio_samples(pointer, &layout))
    }

    /// Whether the buffer's samples lie as this format says, in its memory, whatever caps and meta say.
    public borrowing func holds(_ info: AudioInfo) -> Bool {
        var layout = info.info
        return mb_audio_fits(pointer, &layout) != 0
    }

    /// Forgets that this was silence: elements take what is marked so for zero, and do not look. Of a buffer
    /// with one owner.
    public borrowing func clearGapFlag() {
        pointer.pointee.mini_object.flags &= ~GST_BUFFER_FLAG_GAP.rawValue
    }

    /// Says where the planes of the sound in this buffer begin.
    ///
    /// - Parameter offsets: Bytes from the buffer's start to each plane, one for each channel.
    public mutating func describeAudio(_ info: AudioInfo, sampleCount: Int, offsets: [Int]) {
        var layout = info.info
        var offset = offsets.map { gsize($0) }
        gst_buffer_add_audio_meta(pointer, &layout, gsize(sampleCount), &offset)
    }

    /// A part of interleaved sound, in the same memory: no bytes are copied, no times are set.
    ///
    /// - Parameter samples: Of each channel; within the buffer.
    public consuming func cut(_ info: AudioInfo, to samples: Range<Int>) -> Buffer {
        guard samples != 0..<audioSampleCount(info) else { return self }
        let cut = gst_audio_buffer_truncate(
            release(), gint(clamping: info.bytesPerFrame), gsize(samples.lowerBound),
            gsize(samples.count))
        return Buffer(adopting: cut!)
    }

    /// The memory of both, one after the other; copied only beyond ``mostMemories``.
    public consuming func appending(_ other: consuming Buffer) -> Buffer {
        Buffer(adopting: gst_buffer_append(release(), other.release())!)
    }

    /// Pieces of memory that a buffer may consist of.
    public static var mostMemories: Int { Int(gst_buffer_get_max_memory()) }
}
