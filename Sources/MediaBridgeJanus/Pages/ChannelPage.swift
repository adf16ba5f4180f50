internal import MediaBridgeWebRTC

/// The page by which a browser joins a channel: it sends camera and microphone, and shows all others.
package enum ChannelPage {
    /// Returns the page. Its server's WebSocket must be at the page's own address.
    ///
    /// - Parameter channel: Its name, of letters, digits, `-` and `_`.
    package static func html(channel: String) -> String {
        PageParts.page(
            title: channel, style: style, body: body,
            script: "const channel = '\(channel)';\n" + client + script,
            asksForServers: false)
    }

    private static let style = #"""
        main { padding: 12px; display: flex; flex-direction: column; gap: 12px; min-height: 100% }
        #users { flex: 1; display: grid; gap: 8px; align-content: center;
          grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)) }
        figure { position: relative; background: #000; border-radius: 12px; overflow: hidden }
        video { width: 100%; aspect-ratio: 4 / 3; object-fit: contain; display: block }
        figcaption { position: absolute; left: 8px; bottom: 8px; padding: 2px 10px; border-radius: 8px;
          background: rgba(16, 18, 22, .75) }
        form { display: flex; gap: 8px; flex-wrap: wrap; align-items: center }
        input { flex: 1 1 160px }
        #state { min-height: 1.5em }
        """#

    private static let body = #"""
        <main>
        <div id="users"></div>
        <p id="state" role="status"></p>
        """# + PageParts.tokenForm + #"""
            <form id="entry">
            <input id="name" maxlength="64" placeholder="Name" aria-label="Name" autocomplete="name" required>
            <button id="join">Join</button>
            <button id="watch" value="watch">Join without camera</button>
            </form>
            <form id="exit" hidden><button id="leave">Leave</button></form>
            </main>
            """#

    /// A client of Janus's VideoRoom.
    private static let client = #"""
        async function openSession(url, token) {
          const socket = new WebSocket(url, 'janus-protocol');
          await new Promise((resolve, reject) => {
            socket.onopen = resolve;
            socket.onerror = () => reject(new Error('The server cannot be reached'));
          });
          const waiting = new Map(), handles = new Map();
          let session, last = 0;
          // Resolves with the reply that is more than an acknowledgement.
          const ask = message => new Promise((resolve, reject) => {
            const transaction = String(++last);
            waiting.set(transaction, { resolve, reject });
            socket.send(JSON.stringify({ ...message, transaction,
              ...(session && { session_id: session }), ...(token && { token }) }));
          });
          const alive = setInterval(() => ask({ janus: 'keepalive' }).catch(() => {}), 20000);
          const result = { onclose: () => {}, close: () => socket.close() };
          socket.onmessage = event => {
            const message = JSON.parse(event.data), data = message.plugindata?.data;
            const asked = waiting.get(message.transaction);
            if (message.janus === 'ack') {
              // A keep-alive gets nothing more.
              return;
            }
            if (!asked) return handles.get(message.sender)?.(message);
            waiting.delete(message.transaction);
            const error = message.error
              ?? (data?.error_code && { code: data.error_code, reason: data.error });
            if (error) asked.reject(Object.assign(new Error(error.reason), { code: error.code }));
            else asked.resolve(message);
          };
          socket.onclose = () => {
            clearInterval(alive);
            for (const { reject } of waiting.values()) reject(new Error('The server is gone'));
            result.onclose();
          };
          session = (await ask({ janus: 'create' })).data.id;
          result.attach = async heard => {
            const reply = await ask({ janus: 'attach', plugin: 'janus.plugin.videoroom' });
            const handle = reply.data.id;
            handles.set(handle, heard);
            return {
              send: (body, jsep) =>
                ask({ janus: 'message', handle_id: handle, body, ...(jsep && { jsep }) }),
              detach: () => {
                handles.delete(handle);
                ask({ janus: 'detach', handle_id: handle }).catch(() => {});
              },
              connection() {
                const pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
                pc.onicecandidate = event => ask({ janus: 'trickle', handle_id: handle,
                  candidate: event.candidate ?? { completed: true } }).catch(() => {});
                return pc;
              },
            };
          };
          return result;
        }
        """#

    private static let script = #"""

        // The page's own server, and no other: a link must not choose who gets the camera.
        const server = location.href.split('#')[0].replace(/^http/, 'ws');
        // A token for the server, and one for the channel.
        const [serverToken, channelToken] = (token ?? '').split(' ');
        const say = text => { $('state').textContent = text; };
        let current = null;

        function tile(id, name, isOwn) {
          const figure = document.createElement('figure');
          figure.dataset.user = id;
          const video = document.createElement('video');
          video.autoplay = video.playsInline = true;
          video.muted = isOwn;
          video.srcObject = new MediaStream();
          const caption = document.createElement('figcaption');
          caption.textContent = name;
          figure.append(video, caption);
          $('users').append(figure);
          return { figure, video };
        }
        // Sound needs a click, which joining is; where a browser does not take it for one, pictures come first.
        async function play(video) {
          try { await video.play(); } catch { video.muted = true; video.play().catch(() => {}); }
        }
        async function publish(me, name) {
          const stream = me.stream = await navigator.mediaDevices.getUserMedia({ video: true, audio: true });
          const { video } = tile(name, name, true);
          video.srcObject = stream;
          const pc = me.pc = me.handle.connection();
          for (const track of stream.getTracks())
            pc.addTransceiver(track, { direction: 'sendonly', streams: [stream] });
          await pc.setLocalDescription();
          const { type, sdp } = pc.localDescription;
          const reply = await me.handle.send({ request: 'publish' }, { type, sdp });
          await pc.setRemoteDescription(reply.jsep);
        }
        async function watch(me, publisher) {
          if (me.watched.has(publisher.id) || publisher.id.startsWith(me.name + '~track~')) return;
          const other = { tile: tile(publisher.id, publisher.display || publisher.id.split('~track~')[0], false) };
          me.watched.set(publisher.id, other);
          try {
            const handle = other.handle = await me.session.attach(message => {
              if (message.janus === 'hangup') forget(me, publisher.id);
            });
            const pc = other.pc = handle.connection();
            pc.ontrack = event => {
              other.tile.video.srcObject.addTrack(event.track);
              play(other.tile.video);
            };
            const offer = await handle.send({ request: 'join', ptype: 'subscriber', room: channel,
              streams: [{ feed: publisher.id }], private_id: me.privateID, token: channelToken });
            await pc.setRemoteDescription(offer.jsep);
            await pc.setLocalDescription();
            const { type, sdp } = pc.localDescription;
            await handle.send({ request: 'start' }, { type, sdp });
          } catch {
            forget(me, publisher.id);
          }
        }
        function forget(me, id) {
          const other = me.watched.get(id);
          if (!other) return;
          me.watched.delete(id);
          other.tile.figure.remove();
          other.pc?.close();
          other.handle?.detach();
        }
        async function join(name, sends) {
          const me = current = { name, watched: new Map() };
          const heard = message => {
            const data = message.plugindata?.data;
            data?.publishers?.forEach(publisher => watch(me, publisher));
            for (const gone of [data?.unpublished, data?.leaving]) if (gone) forget(me, gone);
            if (data?.leaving === 'ok' && data.reason === 'kicked') over(me, 'You were removed.');
          };
          say('Joining …');
          $('entry').hidden = true;
          try {
            me.session = await openSession(server, serverToken);
            me.session.onclose = () => over(me, 'The server is gone.');
            me.handle = await me.session.attach(heard);
            const joined = (await me.handle.send({ request: 'join', ptype: 'publisher', room: channel,
              id: name, display: name, token: channelToken })).plugindata.data;
            me.privateID = joined.private_id;
            joined.publishers.forEach(publisher => watch(me, publisher));
            if (sends) await publish(me, name);
            say('');
            $('exit').hidden = false;
          } catch (error) {
            if (error.code === 403 || error.code === 433) {
              over(me, '');
              return askForToken(token !== null);
            }
            over(me, error.code === 436 ? 'This name is taken.' : error.message);
          }
        }
        // Leaves, and says why.
        function over(me, why) {
          if (current !== me) return;
          current = null;
          me.stream?.getTracks().forEach(track => track.stop());
          me.pc?.close();
          for (const id of [...me.watched.keys()]) forget(me, id);
          me.session?.close();
          $('users').replaceChildren();
          $('entry').hidden = false;
          $('exit').hidden = true;
          say(why);
        }
        $('entry').onsubmit = event => {
          event.preventDefault();
          join($('name').value.trim(), event.submitter?.value !== 'watch');
        };
        $('exit').onsubmit = event => { event.preventDefault(); if (current) over(current, ''); };
        addEventListener('pagehide', () => { if (current) over(current, ''); });
        if (!navigator.mediaDevices?.getUserMedia) {
          $('join').disabled = true;
          $('join').title = 'Browsers give the camera to https and to this machine alone';
        }
        """#
}
