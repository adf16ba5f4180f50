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
        main { padding: 12px; display: flex; flex-direction: column; gap: 12px; height: 100% }
        #users { flex: 1; min-height: 0; display: grid; gap: 8px; grid-auto-rows: minmax(0, 1fr) }
        figure { position: relative; background: #000; border-radius: 12px; overflow: hidden;
          min-width: 0; min-height: 0 }
        video { width: 100%; height: 100%; object-fit: contain; display: block }
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
            <form id="exit" hidden>
            <button type="button" id="camera">Camera off</button>
            <button type="button" id="microphone">Mute</button>
            <button type="button" id="sound">Sound off</button>
            <button id="leave">Leave</button>
            </form>
            </main>
            """#

    /// A client of Janus's VideoRoom.
    private static let client = #"""
        const gone = text => Object.assign(new Error(text), { isGone: true });
        async function openSession(url, token) {
          const socket = new WebSocket(url, 'janus-protocol');
          await new Promise((resolve, reject) => {
            socket.onopen = resolve;
            socket.onerror = () => reject(gone('The server cannot be reached.'));
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
            for (const { reject } of waiting.values()) reject(gone('The connection to the server was lost.'));
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
        let current = null, isSilent = false;

        // As many columns as make the pictures largest.
        function arrange() {
          const { clientWidth: width, clientHeight: height, childElementCount: count } = $('users');
          let [best, columns] = [0, 1];
          for (let tried = 1; tried <= count; tried++) {
            const size = Math.min(width / tried, height / Math.ceil(count / tried) * 4 / 3);
            if (size > best) [best, columns] = [size, tried];
          }
          $('users').style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
        }
        addEventListener('resize', arrange);
        function tile(id, name, isOwn) {
          const figure = document.createElement('figure');
          figure.dataset.user = id;
          const video = document.createElement('video');
          video.autoplay = video.playsInline = true;
          video.muted = isOwn || isSilent;
          video.srcObject = new MediaStream();
          const caption = document.createElement('figcaption');
          caption.textContent = name;
          figure.append(video, caption);
          $('users').append(figure);
          arrange();
          return { figure, video };
        }
        // Sound needs a click, which joining is; where a browser does not take it for one, pictures come first.
        async function play(video) {
          try { await video.play(); } catch { silence(true); video.play().catch(() => {}); }
        }
        function silence(isOn) {
          isSilent = isOn;
          current?.watched.forEach(other => { other.tile.video.muted = isOn; });
          $('sound').textContent = isOn ? 'Sound on' : 'Sound off';
        }
        // A track that is off sends black pictures, or silence.
        function toggle(kind) {
          const tracks = current?.stream?.getTracks().filter(track => track.kind === kind) ?? [];
          for (const track of tracks) track.enabled = !track.enabled;
          showOwn();
        }
        function showOwn() {
          const isOn = kind => current?.stream?.getTracks().some(track => track.kind === kind && track.enabled);
          $('camera').hidden = $('microphone').hidden = !current?.stream;
          $('camera').textContent = isOn('video') ? 'Camera off' : 'Camera on';
          $('microphone').textContent = isOn('audio') ? 'Mute' : 'Unmute';
        }
        async function publish(me) {
          if (!me.stream) {
            const stream = await navigator.mediaDevices.getUserMedia({ video: true, audio: true });
            if (current !== me) return stream.getTracks().forEach(track => track.stop());
            me.stream = stream;
            tile(me.name, me.name, true).video.srcObject = stream;
          }
          const stream = me.stream;
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
          arrange();
          other.pc?.close();
          other.handle?.detach();
        }
        function join(name, sends) {
          current = { name, sends, watched: new Map(), wait: 500 };
          say('Joining …');
          $('entry').hidden = true;
          connect(current);
        }
        async function connect(me) {
          const heard = message => {
            const data = message.plugindata?.data;
            data?.publishers?.forEach(publisher => watch(me, publisher));
            for (const gone of [data?.unpublished, data?.leaving]) if (gone) forget(me, gone);
            if (data?.leaving === 'ok' && data.reason === 'kicked') over(me, 'You were removed from the channel.');
          };
          try {
            const session = await openSession(server, serverToken);
            if (current !== me) return session.close();
            me.session = session;
            session.onclose = () => { if (me.isIn) again(me); else over(me, 'The connection to the server was lost.'); };
            me.handle = await session.attach(heard);
            const joined = (await me.handle.send({ request: 'join', ptype: 'publisher', room: channel,
              id: me.name, display: me.name, token: channelToken })).plugindata.data;
            me.privateID = joined.private_id;
            joined.publishers.forEach(publisher => watch(me, publisher));
            if (me.sends) await publish(me);
            if (current !== me) return;
            [me.isIn, me.wait] = [true, 500];
            say('');
            $('exit').hidden = false;
            showOwn();
          } catch (error) {
            if (current !== me) return;
            if (error.code === 403 || error.code === 433) {
              over(me, '');
              return askForToken(token !== null);
            }
            // The server may not know yet that the connection before this one is gone.
            if (me.isIn && (error.isGone || error.code === 436)) return again(me);
            over(me, error.code === 436 ? 'This name is taken.' : error.message);
          }
        }
        // Connects again, later each time, with the same camera.
        function again(me) {
          if (current !== me || me.retry) return;
          disconnect(me);
          say('The connection to the server was lost. Trying again …');
          me.retry = setTimeout(() => {
            me.retry = null;
            if (current === me) connect(me);
          }, me.wait);
          me.wait = Math.min(2 * me.wait, 8000);
        }
        function disconnect(me) {
          me.pc?.close();
          for (const id of [...me.watched.keys()]) forget(me, id);
          if (me.session) me.session.onclose = () => {};
          me.session?.close();
          me.session = null;
        }
        // Leaves, and says why.
        function over(me, why) {
          if (current !== me) return;
          current = null;
          me.stream?.getTracks().forEach(track => track.stop());
          disconnect(me);
          $('users').replaceChildren();
          $('entry').hidden = false;
          $('exit').hidden = true;
          say(why);
        }
        $('entry').onsubmit = event => {
          event.preventDefault();
          join($('name').value.trim(), event.submitter?.value !== 'watch');
        };
        $('camera').onclick = () => toggle('video');
        $('microphone').onclick = () => toggle('audio');
        $('sound').onclick = () => silence(!isSilent);
        $('exit').onsubmit = event => { event.preventDefault(); if (current) over(current, ''); };
        addEventListener('pagehide', () => { if (current) over(current, ''); });
        if (!navigator.mediaDevices?.getUserMedia) {
          $('join').disabled = true;
          $('join').title = 'Browsers allow the camera only on https pages and on http://localhost';
        }
        """#
}
