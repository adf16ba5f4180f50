'use strict';
const asksForServers = {{asksForServers}};
const $ = id => document.getElementById(id);
const hash = () => new URLSearchParams(location.hash.slice(1)).get('token');
// A typed token stays out of the URL, which is visible and ends up in the history.
const typed = () => { try { return sessionStorage.getItem('token'); } catch { return null; } };
let token = hash() ?? typed();
addEventListener('hashchange', () => { token = hash() ?? typed(); location.reload(); });
function headers(more) {
  return token ? { ...more, Authorization: 'Bearer ' + token } : { ...more };
}
function unquote(text) {
  return text === undefined ? undefined : text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1');
}
function iceServers(link) {
  const found = [];
  const pattern = /<([^>]+)>((?:\s*;\s*[\w-]+=(?:"(?:[^"\\]|\\.)*"|[^;,\s]*))*)/g;
  for (const [, url, rest] of (link || '').matchAll(pattern)) {
    const values = {};
    for (const [, name, value] of rest.matchAll(/;\s*([\w-]+)=("(?:[^"\\]|\\.)*"|[^;,\s]*)/g))
      values[name.toLowerCase()] = unquote(value);
    if (values.rel !== 'ice-server') continue;
    const server = { urls: url };
    if (values.username !== undefined) server.username = values.username;
    if (values.credential !== undefined) server.credential = values.credential;
    found.push(server);
  }
  return found;
}
async function connection(endpoint) {
  let servers = [];
  if (asksForServers) {
    const reply = await fetch(endpoint, { method: 'OPTIONS', headers: headers() });
    servers = iceServers(reply.headers.get('Link'));
  }
  return new RTCPeerConnection({ bundlePolicy: 'max-bundle', iceServers: servers });
}
// Posts at once: the server finds the way back by itself, and gathering would cost time.
async function negotiate(pc, endpoint) {
  await pc.setLocalDescription();
  if (asksForServers) await gathered(pc);
  const reply = await fetch(endpoint, { method: 'POST', body: pc.localDescription.sdp,
    headers: headers({ 'Content-Type': 'application/sdp' }) });
  const text = await reply.text();
  if (reply.status !== 201) throw { status: reply.status, text: text.split('\n')[0],
    wait: 1000 * (+reply.headers.get('Retry-After') || 0) };
  const session = new URL(reply.headers.get('Location'), reply.url).href;
  try { await pc.setRemoteDescription({ type: 'answer', sdp: text }); }
  catch (error) { leave(session); throw error; }
  return session;
}
function gathered(pc) {
  return new Promise(done => {
    if (pc.iceGatheringState === 'complete') return done();
    setTimeout(done, 1000);
    pc.addEventListener('icegatheringstatechange', () => {
      if (pc.iceGatheringState === 'complete') done();
    });
  });
}
function leave(session) {
  if (session) fetch(session, { method: 'DELETE', keepalive: true, headers: headers() })
    .catch(() => {});
}
function askForToken(wasWrong) {
  $('tokenform').hidden = false;
  $('tokenhint').textContent = wasWrong ? 'This token is not valid.' : 'A token is required.';
  $('token').focus();
}
$('tokenform').onsubmit = event => {
  event.preventDefault();
  try { sessionStorage.setItem('token', $('token').value.trim()); } catch (error) {
    $('tokenhint').textContent = 'This browser cannot keep the token: ' + error.message;
    return;
  }
  history.replaceState(null, '', location.pathname + location.search);
  location.reload();
};
