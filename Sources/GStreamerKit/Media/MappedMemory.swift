internal import CMediaBridge

/// The bytes of a buffer, mapped for reading for the lifetime of this value.
package struct MappedBuffer: ~Copyable {
    private var map: GstMapInfo
    private let buffer: Buffer

    /// Maps a buffer; `nil` if the CPU cannot access its memory.
    package init?(_ buffer: borrowing Buffer) {
        var map = GstMapInfo()
        guard gst_buffer_map(buffer.pointer, &map, GST_MAP_READ) != 0 else { return nil }
        self.map = map
        self.buffer = buffer.retained()
    }

    deinit {
        var map = self.map
        gst_buffer_unmap(buffer.pointer, &map)
    }

    /// The bytes; the span must not outlive this value.
    package var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size)).bytes
            return unsafe _overrideLifetime(bytes, borrowing: self)
        }
    }
}

// MARK: Video

/// A video buffer, mapped for the lifetime of this value, with the strides and offsets of its
/// GstVideoMeta or, without one, those of the default layout.
package struct MappedVideoFrame: ~Copyable {
    private var frame: GstVideoFrame
    /// Whether the buffer's only memory was mapped directly (``Buffer/isHeldBySample``).
    private let isSole: Bool
    /// The number of planes, at most four.
    package let planeCount: Int

    /// The access that a mapping permits.
    package enum Access: Sendable {
        /// The pixels or samples are only read.
        case read
        /// The pixels or samples may be changed.
        case write

        fileprivate var flags: GstMapFlags {
            switch self {
            case .read: GST_MAP_READ
            case .write: GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)
            }
        }
    }

    /// Maps a buffer; `nil` if it is too small for the format, not accessible by the CPU, or if
    /// write access is requested to a shared buffer. Caps and GstVideoMeta are not trusted: each row
    /// is checked to be within the memory.
    ///
    /// A buffer that is ``Buffer/isHeldBySample`` must have been found ``Buffer/isWritable`` before.
    package init?(_ buffer: borrowing Buffer, _ info: VideoInfo, _ access: Access) {
        guard access == .read || buffer.isHeldBySample || buffer.isWritable else { return nil }
        var frame = GstVideoFrame()
        var layout = info.info
        guard mb_video_meta_fits(buffer.pointer, &layout) != 0 else { return nil }
        let isSole = access == .write && buffer.isHeldBySample
        let isMapped: gboolean
        if isSole {
            isMapped = mb_video_frame_map_sole(&frame, &layout, buffer.pointer)
        } else {
            isMapped = gst_video_frame_map(&frame, &layout, buffer.pointer, access.flags)
        }
        guard isMapped != 0 else { return nil }
        // Decoders may describe a larger picture; the caps have the visible size.
        (frame.info.width, frame.info.height) = (layout.width, layout.height)
        for index in 0..<layout.finfo.pointee.n_planes {
            var plane = mb_video_frame_plane(&frame, index)
            guard mb_video_plane_fits(&plane, &layout, index) != 0 else {
                if isSole {
                    mb_video_frame_unmap_sole(&frame)
                } else {
                    gst_video_frame_unmap(&frame)
                }
                return nil
            }
        }
        self.frame = frame
        self.isSole = isSole
        planeCount = Int(layout.finfo.pointee.n_planes)
    }

    /// Returns a plane; its memory is valid while this value lives, and contains every row.
    package func plane(_ index: Int) -> Plane {
        precondition(index >= 0 && index < planeCount, "plane \(index) of \(planeCount)")
        return withUnsafePointer(to: frame) { Plane(mb_video_frame_plane($0, guint(index))) }
    }

    deinit {
        var frame = self.frame
        if isSole { mb_video_frame_unmap_sole(&frame) } else { gst_video_frame_unmap(&frame) }
    }

    /// A plane in mapped memory.
    package struct Plane {
        /// The memory from the first row on, at most to the end of the mapping.
        package let memory: UnsafeMutableRawBufferPointer
        /// The layout of the samples in ``memory``.
        package let layout: VideoInfo.PlaneLayout

        fileprivate init(_ plane: MBPlane) {
            layout = VideoInfo.PlaneLayout(plane, offset: 0)
            // 2³¹ bytes times 2¹⁵ rows: no overflow.
            let count = min(Int(clamping: plane.available), layout.stride * layout.rows)
            memory = UnsafeMutableRawBufferPointer(start: plane.bytes, count: count)
        }
    }
}

// MARK: Audio

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
    package typealias Access = MappedVideoFrame.Access

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
            let only = gst_buffer_peek_memory(buffer.pointer, 0)
            guard gst_memory_map(only, &map, access.flags) != 0 else { return nil }
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
        guard gst_audio_buffer_map(mapped, &layout, buffer.pointer, access.flags) != 0 else {
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
