// What a test's page can ask of its videos and connections. Evaluated before every page's own scripts.
globalThis.rig = {
  // The pixels of a <video> as it is shown now: {width, height, data}, four bytes a pixel.
  pixels(video) {
    const canvas = document.createElement('canvas')
    canvas.width = video.videoWidth
    canvas.height = video.videoHeight
    if (!canvas.width) throw new Error('the video has no picture yet')
    const context = canvas.getContext('2d', { willReadFrequently: true })
    context.drawImage(video, 0, 0)
    return context.getImageData(0, 0, canvas.width, canvas.height)
  },

  // The colour of one pixel, [red, green, blue].
  pixel(video, x, y) {
    const { width, data } = this.pixels(video)
    return Array.from(data.slice(4 * (y * width + x), 4 * (y * width + x) + 3))
  },

  // What a numbered picture says, and how far its worst pixel is off: see NumberedPictures.swift, which has
  // the same layout. Pixels nearer than `edge` to the side of a block are not looked at.
  numbered(image, edge = 4) {
    const { width, height, data } = image
    const colours = [[200, 60, 40], [40, 160, 60], [50, 70, 190], [128, 128, 128]]
    const middle = (column, row) => data[4 * (Math.floor((row + 0.5) * height / 4) * width +
      Math.floor((column + 0.5) * width / 8)) + 1]
    let number = 0
    for (let bit = 0; bit < 8; bit++) number = number * 2 + (middle(bit, 2) > 127 ? 1 : 0)
    let worst = 0, sum = 0, count = 0
    for (let row = 0; row < 4; row++) {
      for (let column = 0; column < 8; column++) {
        const isSet = (number >> (7 - column)) & 1
        const wanted = row < 2 ? colours[column >> 1] : Array(3).fill(isSet === (row === 2 ? 1 : 0) ? 255 : 0)
        for (let y = row * height / 4 + edge; y < (row + 1) * height / 4 - edge; y++) {
          for (let x = column * width / 8 + edge; x < (column + 1) * width / 8 - edge; x++) {
            const at = 4 * (y * width + x)
            for (let part = 0; part < 3; part++) {
              const off = Math.abs(data[at + part] - wanted[part])
              if (off > worst) worst = off
              sum += off
              count++
            }
          }
        }
      }
    }
    return { number, worst, mean: sum / count, width, height }
  },

  // What the next `count` pictures of a video say, with the time at which each was shown (ms) and the
  // number that the decoder gave it. The time limit only ends a hang: it resolves with fewer.
  watch(video, count, milliseconds = 280000) {
    return new Promise(resolve => {
      const found = []
      const over = setTimeout(() => resolve(found), milliseconds)
      const look = (now, about) => {
        const picture = this.numbered(this.pixels(video))
        found.push({ ...picture, time: now, received: about.receiveTime, presented: about.presentedFrames })
        if (found.length < count) return video.requestVideoFrameCallback(look)
        clearTimeout(over)
        resolve(found)
      }
      video.requestVideoFrameCallback(look)
    })
  },

  // What the next `count` pictures with different numbers say. A page may get the same picture twice, and may
  // miss some.
  async pictures(video, count, milliseconds = 280000) {
    const found = []
    for (const end = performance.now() + milliseconds; found.length < count && performance.now() < end;) {
      for (const picture of await this.watch(video, 1, end - performance.now())) {
        if (picture.number !== found.at(-1)?.number) found.push(picture)
      }
    }
    return found
  },

  // [number, time in ms] of each numbered picture of a video that is shown within a time: the time at which the
  // page is told of it. Looks at the number alone.
  stamps(video, milliseconds) {
    const context = new OffscreenCanvas(8, 1).getContext('2d', { willReadFrequently: true })
    const found = [], end = performance.now() + milliseconds
    return new Promise(resolve => {
      const look = () => {
        const time = performance.now(), { videoWidth, videoHeight } = video
        if (time > end) return resolve(found)
        context.drawImage(video, 0, videoHeight / 2, videoWidth, videoHeight / 4, 0, 0, 8, 1)
        const { data } = context.getImageData(0, 0, 8, 1)
        let number = 0
        for (let bit = 0; bit < 8; bit++) number = number * 2 + (data[4 * bit + 1] > 127 ? 1 : 0)
        found.push([number, time])
        video.requestVideoFrameCallback(look)
      }
      video.requestVideoFrameCallback(look)
    })
  },

  // Resolves with the time from the opening of the page to the first picture of its first video, in ms.
  firstPicture: new Promise(resolve => addEventListener('DOMContentLoaded', () =>
    document.querySelector('video')?.requestVideoFrameCallback(() => resolve(performance.now())))),

  // Resolves with the number of pictures shown when it is `count` more than now; rejects after a time.
  shown(video, count = 1, milliseconds = 280000) {
    return new Promise((resolve, reject) => {
      let seen = 0
      const over = setTimeout(() => reject(new Error(`${seen} of ${count} pictures in ${milliseconds} ms`)), milliseconds)
      const look = (_, about) => {
        if (++seen < count) return video.requestVideoFrameCallback(look)
        clearTimeout(over)
        resolve(about.presentedFrames)
      }
      video.requestVideoFrameCallback(look)
    })
  },

  // The inbound-rtp reports of a connection by kind, {video, audio}, as getStats has them.
  async inbound(connection) {
    const found = {}
    for (const report of (await connection.getStats()).values()) {
      if (report.type === 'inbound-rtp') found[report.kind] = report
    }
    return found
  },

  // Resolves when a connection is in a state; rejects when it fails, or after a time.
  connected(connection, state = 'connected', milliseconds = 280000) {
    return new Promise((resolve, reject) => {
      const over = setTimeout(
        () => reject(new Error(`${connection.connectionState} after ${milliseconds} ms, ICE ${connection.iceConnectionState}` +
          `, gathering ${connection.iceGatheringState}, remote ${connection.remoteDescription?.sdp}`)), milliseconds)
      const look = () => {
        const now = connection.connectionState
        if (now !== state && now !== 'failed' && now !== 'closed') return
        clearTimeout(over)
        now === state ? resolve(now) : reject(new Error(now))
      }
      connection.addEventListener('connectionstatechange', look)
      look()
    })
  },
}
