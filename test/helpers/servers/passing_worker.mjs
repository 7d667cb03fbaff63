/** What a PassingPort runs: a thread of its own, as a client that waits for its servers stands still. */
import { connect, createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** No more bytes than these are held. */
const MOST = 64 * 2 ** 20;
const { to, ms, counted } = workerData;
const counts = new Float64Array(counted);

/** Passes on what comes, `ms` after it came, and counts it. */
function pass(from, onto, direction) {
  const waiting = [];
  let held = 0;
  let timer = null;
  const send = () => {
    timer = null;
    while (waiting.length > 0 && waiting[0].due <= performance.now()) {
      const { chunk } = waiting.shift();
      if (chunk === null) onto.end();
      else {
        held -= chunk.length;
        onto.write(chunk);
      }
    }
    if (held < MOST) from.resume();
    if (waiting.length > 0) timer = setTimeout(send, Math.max(0, waiting[0].due - performance.now()));
  };
  const later = (chunk) => {
    waiting.push({ chunk, due: performance.now() + ms });
    held += chunk?.length ?? 0;
    if (held >= MOST) from.pause();
    timer ??= setTimeout(send, ms);
  };
  from.on('data', (chunk) => {
    counts[direction] += chunk.length;
    if (ms === 0) onto.write(chunk);
    else later(chunk);
  });
  from.on('end', () => later(null));
  from.on('error', () => onto.destroy());
}

const server = createServer((client) => {
  const far = connect(to, '127.0.0.1');
  for (const socket of [client, far]) socket.setNoDelay(true);
  pass(client, far, 0);
  pass(far, client, 1);
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
