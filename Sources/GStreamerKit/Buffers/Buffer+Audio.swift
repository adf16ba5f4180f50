internal import CMediaBridge

extension Buffer {
    /// Returns the number of samples of each channel, if the buffer holds audio of this format.
    package func audioSampleCount(_ info: AudioInfo) -> Int {
        var layout = info.info
        return Int(mb_audio_samples(pointer, &layout))
    }

    /// Returns whether the samples lie in the buffer's memory as this format requires, regardless
    /// of caps and meta.
    package borrowing func holds(_ info: AudioInfo) -> Bool {
        var layout = info.info
        return mb_audio_fits(pointer, &layout) != 0
    }

    /// Clears the GAP flag, which marks silence: elements take the content of flagged buffers as
    /// zero without reading it. The buffer must have only one owner.
    package borrowing func clearGapFlag() {
        pointer.pointee.mini_object.flags &= ~GST_BUFFER_FLAG_GAP.rawValue
    }

    /// Adds a GstAudioMeta with the positions of the planes in this buffer.
    ///
    /// - Parameters:
    ///   - info: The format of the samples.
    ///   - sampleCount: Samples of each channel.
    ///   - offsets: Bytes from the buffer's start to each plane, one for each channel.
    package mutating func describeAudio(_ info: AudioInfo, sampleCount: Int, offsets: [Int]) {
        var layout = info.info
        var offset = offsets.map { gsize($0) }
        gst_buffer_add_audio_meta(pointer, &layout, gsize(sampleCount), &offset)
    }

    /// Returns a part of interleaved audio that shares the memory. No bytes are copied, and no
    /// timestamps are set.
    ///
    /// - Parameters:
    ///   - info: The format of the samples.
    ///   - samples: The range of samples of each channel; must be within the buffer.
    package consuming func cut(_ info: AudioInfo, to samples: Range<Int>) -> Buffer {
        guard samples != 0..<audioSampleCount(info) else { return self }
        let cut = gst_audio_buffer_truncate(
            release(), gint(clamping: info.bytesPerFrame), gsize(samples.lowerBound),
            gsize(samples.count))
        return Buffer(adopting: cut!)
    }

    /// Returns a buffer with the memory of both, one after the other; copies only if there would be
    /// more than ``mostMemories`` pieces.
    package consuming func appending(_ other: consuming Buffer) -> Buffer {
        Buffer(adopting: gst_buffer_append(release(), other.release())!)
    }

    /// Maximum number of memory pieces in a buffer.
    package static var mostMemories: Int { Int(gst_buffer_get_max_memory()) }
}
