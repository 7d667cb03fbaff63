/** For specs of the pool: does what the name of a "spec file" says, and tells of it as a process with spec files does. */
import { existsSync, readlinkSync } from 'node:fs';

/** Tells networks from each other, where the system has several. */
const NETWORK = '/proc/self/ns/net';

const tell = (message) => new Promise((sent) => process.send(message, sent));

process.on('message', async ({ name }) => {
  const result = { fullName: `spec of ${name}`, status: 'passed', failedExpectations: [] };
  await tell({ kind: 'begins', spec: result.fullName });
  if (name.includes('killed')) process.stderr.write('a last word\n', () => process.kill(process.pid, 'SIGKILL'));
  else if (name.includes('exit')) process.exit(3);
  else if (name.includes('hang')) for (;;);
  if (name.includes('killed')) return;
  const where = name.includes('network') && existsSync(NETWORK) ? readlinkSync(NETWORK) : String(process.pid);
  await tell({ kind: 'ends', result: { ...result, pendingReason: where } });
  await tell({ kind: 'done', status: 'passed' });
});
process.on('disconnect', () => process.exit());
