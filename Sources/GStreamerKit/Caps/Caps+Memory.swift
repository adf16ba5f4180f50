internal import CMediaBridge

extension Caps {
    /// The memory of a device that the first of the formats lies in: `GLMemory`, `DMABuf` …; `nil` for memory
    /// that the processor reads.
    public var deviceMemory: String? {
        guard gst_caps_get_size(pointer) > 0, let features = gst_caps_get_features(pointer, 0)
        else {
            return nil
        }
        return (0..<gst_caps_features_get_size(features)).lazy
            .compactMap { gst_caps_features_get_nth(features, $0).map { String(cString: $0) } }
            .first { $0.hasPrefix("memory:") && $0 != "memory:SystemMemory" }
            .map { String($0.dropFirst("memory:".count)) }
    }

    /// The elements that bring pictures from a device's memory into that of the processor, and back.
    private static let bridges: [String: (down: String, up: String)] = [
        "GLMemory": ("gldownload", "glupload"),
        "CUDAMemory": ("cudadownload", "cudaupload"),
        "VAMemory": ("vapostproc", "vapostproc"),
        "VASurface": ("vaapipostproc", "vaapipostproc"),
        "VulkanImage": ("vulkandownload", "vulkanupload"),
        "NVMM": ("nvvidconv", "nvvidconv"),
    ]

    /// How pictures of these caps get into memory that the processor reads; `nil` where they are there.
    public var downloadAdvice: String? {
        deviceMemory.map { memory in
            let element = Self.bridges[memory]?.down
            return element.map { "\($0) behind the element that gives them, in the capture" }
                ?? "an element behind the capture's that gives video/x-raw without memory:\(memory)"
        }
    }

    /// How pictures get into the memory of a device that these caps want; `nil` where they want none.
    public var uploadAdvice: String? {
        deviceMemory.map { memory in
            Self.bridges[memory].map { "\($0.up) at the beginning of the output" }
                ?? "an element in front that gives memory:\(memory)"
        }
    }
}
