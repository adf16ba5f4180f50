// A client of a Janus's VideoRoom in a test's page. Evaluated before every page's own scripts.
//
//   const janus = await rig.janus('ws://10.77.0.1:8188', {token})      a session
//   const me = await janus.join({room, id, display, pin, token})        me.publishers, me.private_id, me.events
//   await me.publish(stream, {videocodec})                              me.connection
//   const other = await janus.watch({room, feed, private_id, pin, token})   other.connection, other.video
//   janus.leave()                                                       closes the WebSocket, as a crash does
//
// What is refused is thrown, with Janus's code: "433: ...".
globalThis.rig.janus = async (url, { token } = {}) => {
  const socket = new WebSocket(url, 'janus-protocol')
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`${url} cannot be reached`))
  })
  const waiting = new Map(), handles = new Map()
  let session, last = 0

  // Resolves with the reply that is more than an "ack".
  const ask = message => new Promise((resolve, reject) => {
    const transaction = `t${++last}`
    waiting.set(transaction, { resolve, reject })
    socket.send(JSON.stringify({ ...message, transaction, ...(session && { session_id: session }), ...(token && { token }) }))
  })
  socket.onmessage = event => {
    const message = JSON.parse(event.data)
    const data = message.plugindata?.data
    const asked = waiting.get(message.transaction)
    if (message.janus === 'ack') return
    if (asked) {
      waiting.delete(message.transaction)
      const error = message.error ?? (data?.error_code && { code: data.error_code, reason: data.error })
      return error ? asked.reject(new Error(`${error.code}: ${error.reason}`)) : asked.resolve(message)
    }
    handles.get(message.sender)?.(message)
  }
  socket.onclose = () => {
    for (const { reject } of waiting.values()) reject(new Error('Janus has closed the connection'))
    clearInterval(alive)
  }
  session = (await ask({ janus: 'create' })).data.id
  const alive = setInterval(() => ask({ janus: 'keepalive' }).catch(() => {}), 20000)

  const attach = async heard => {
    const id = (await ask({ janus: 'attach', plugin: 'janus.plugin.videoroom' })).data.id
    handles.set(id, heard)
    return {
      send: (body, jsep) => ask({ janus: 'message', handle_id: id, body, ...(jsep && { jsep }) }),
      // Each candidate is sent as soon as it is gathered (trickle ICE).
      connect(connection) {
        connection.onicecandidate = event =>
          ask({ janus: 'trickle', handle_id: id, candidate: event.candidate ?? { completed: true } }).catch(() => {})
      },
    }
  }

  return {
    // Creates a room that lasts as long as the server.
    async create(room, options = {}) {
      const handle = await attach(() => {})
      return (await handle.send({ request: 'create', room, ...options })).plugindata.data
    },

    async join({ room, id, display, pin, token }) {
      const me = { events: [], hangups: [] }
      // Others see what is published only once Janus says that it is connected, too.
      const up = new Promise(resolve => { me.up = resolve })
      const handle = await attach(message => {
        if (message.plugindata) me.events.push(message.plugindata.data)
        else me.hangups.push(message.janus)
        if (message.janus === 'webrtcup') me.up()
      })
      const joined = await handle.send({ request: 'join', ptype: 'publisher', room, id, display, pin, token })
      Object.assign(me, joined.plugindata.data)
      me.publish = async (stream, options = {}) => {
        const connection = me.connection = new RTCPeerConnection({ bundlePolicy: 'max-bundle' })
        handle.connect(connection)
        for (const track of stream.getTracks()) connection.addTransceiver(track, { direction: 'sendonly', streams: [stream] })
        await connection.setLocalDescription()
        const { type, sdp } = connection.localDescription
        const reply = await handle.send({ request: 'publish', ...options }, { type, sdp })
        await connection.setRemoteDescription(reply.jsep)
        await rig.connected(connection)
        await up
      }
      me.unpublish = () => handle.send({ request: 'unpublish' })
      return me
    },

    async watch({ room, feed, private_id, pin, token }) {
      const other = { events: [], hangups: [], connection: new RTCPeerConnection({ bundlePolicy: 'max-bundle' }) }
      const handle = await attach(message => {
        if (message.plugindata) other.events.push(message.plugindata.data)
        else other.hangups.push(message.janus)
      })
      const { connection } = other
      handle.connect(connection)
      const video = other.video = document.createElement('video')
      video.autoplay = video.muted = video.playsInline = true
      video.srcObject = new MediaStream()
      connection.ontrack = event => video.srcObject.addTrack(event.track)
      document.body.append(video)
      const offer = await handle.send({ request: 'join', ptype: 'subscriber', room, streams: [{ feed }], private_id, pin, token })
      await connection.setRemoteDescription(offer.jsep)
      await connection.setLocalDescription()
      const { type, sdp } = connection.localDescription
      await handle.send({ request: 'start' }, { type, sdp })
      await rig.connected(connection)
      return other
    },

    leave: () => socket.close(),
  }
}
