internal import CMediaBridge

/// An audio buffer, mapped for the lifetime of this value, with the planes of its GstAudioMeta.
package struct MappedAudioBuffer: ~Copyable {
    private enum Mapping {
        /// Heap-allocated, because it contains pointers into itself.
        case buffer(UnsafeMutablePointer<GstAudioBuffer>)
        /// The buffer's only memory, mapped directly (``Buffer/isHeldBySample``).
        case memory(GstMapInfo)
    }
    private let mapping: Mapping
    /// The planes, from their first sample on; their memory is valid while this value lives.
    package let planes: [UnsafeMutableRawBufferPointer]

    /// The access that a mapping permits.
    package enum Access: Sendable {
        /// The samples are only read.
        case read
        /// The samples may be changed.
        case write
    }

    /// Maps a buffer; `nil` if it is not audio of this format, not accessible by the CPU, or if it
    /// is to be written and shared.
    ///
    /// A buffer that is ``Buffer/isHeldBySample`` must have been found ``Buffer/isWritable`` before.
    package init?(_ buffer: borrowing Buffer, _ info: AudioInfo, _ access: Access) {
        var layout = info.info
        guard mb_audio_fits(buffer.pointer, &layout) != 0,
            access == .read || buffer.isHeldBySample || buffer.isWritable
        else { return nil }
        let count = buffer.audioSampleCount(info)
        // No overflow: that many samples are known to be in the buffer.
        let plane =
            count * (info.isPlanar ? info.bytesPerFrame / info.channels : info.bytesPerFrame)
        if access == .write, buffer.isHeldBySample {
            var map = GstMapInfo()
            let flags = GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)
            guard gst_memory_map(gst_buffer_peek_memory(buffer.pointer, 0), &map, flags) != 0
            else { return nil }
            let memory = UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size))
            let meta = mb_buffer_audio_meta(buffer.pointer)
            let offsets = (0..<(info.isPlanar ? info.channels : 1)).map { index in
                meta.map { info.isPlanar ? Int($0.pointee.offsets[index]) : 0 } ?? 0
            }
            guard offsets.allSatisfy({ $0 <= memory.count - plane }) else {
                gst_memory_unmap(map.memory, &map)
                return nil
            }
            mapping = .memory(map)
            planes = offsets.map {
                UnsafeMutableRawBufferPointer(rebasing: memory[$0..<$0 + plane])
            }
            return
        }
        let mapped = UnsafeMutablePointer<GstAudioBuffer>.allocate(capacity: 1)
        mapped.initialize(to: GstAudioBuffer())
        let flags =
            access == .read
            ? GST_MAP_READ.rawValue : GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue
        guard
            gst_audio_buffer_map(mapped, &layout, buffer.pointer, GstMapFlags(rawValue: flags))
                != 0
        else {
            mapped.deallocate()
            return nil
        }
        guard
            (0..<gint(mapped.pointee.n_planes)).allSatisfy({
                mb_audio_plane_fits(mapped, $0, gsize(plane)) != 0
            })
        else {
            gst_audio_buffer_unmap(mapped)
            mapped.deallocate()
            return nil
        }
        mapping = .buffer(mapped)
        planes = (0..<Int(mapped.pointee.n_planes)).map {
            UnsafeMutableRawBufferPointer(start: mapped.pointee.planes[$0], count: plane)
        }
    }

    deinit {
        switch mapping {
        case .buffer(let mapped):
            gst_audio_buffer_unmap(mapped)
            mapped.deallocate()
        case .memory(var map): gst_memory_unmap(map.memory, &map)
        }
    }
}
