/** Runs a parameter server until it is told to end. */
import { whyNot } from './address.mjs';
import { serverDefinition } from './messages.mjs';
import { addonWithTensorFlow } from './tensorflow.mjs';

const WARNING = `tfjs-embeddings server: for private networks only.
  TensorFlow's server asks nobody who they are, and runs whatever graph it is sent with the rights of this process:
  files of this user can be read and written through it. Nothing is encrypted.
  It listens on all interfaces of this machine, whatever address is given. Close the port to everybody else.
`;

/** Calls have ended when none was seen for so long; and are not waited for longer. */
const QUIET_MS = 200;
const LONGEST_MS = 10_000;
const LOOK_EVERY_MS = 10;

/** Resolves when no kernel has run for a while, or after the longest time. */
async function quiet(addon) {
  const begun = Date.now();
  let since = begun;
  while (Date.now() - since < QUIET_MS && Date.now() - begun < LONGEST_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    if (addon.kernelsAtWork() > 0) since = Date.now();
  }
}

/** Resolves to an exit code where the server does not start, and else when it is to end. */
export async function serve({ job, task, address, threads, memory, life, untilInputEnds }) {
  const reason = await whyNot(address);
  if (reason !== null) {
    process.stderr.write(`server: ${reason}\n`);
    return 2;
  }
  if (memory !== null) process.env.TFJS_EMBEDDINGS_SERVER_MEMORY = String(memory);
  process.stderr.write(WARNING);
  let addon, target;
  try {
    addon = addonWithTensorFlow();
    if (threads !== null) addon.setThreads(threads);
    target = addon.startServer(serverDefinition({ job, task, listen: address.text, threads }));
  } catch (error) {
    process.stderr.write(`server: ${error.message}\n`);
    return 1;
  }
  const told = new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, resolve);
    if (untilInputEnds) process.stdin.on('end', resolve).on('error', resolve).resume();
    // Node's timers reach to 24 days; the interval keeps the process, which would else have nothing to do.
    const end = life === null ? Infinity : Date.now() + life * 1000;
    setInterval(() => Date.now() >= end && resolve(), Math.min(1000, life === null ? 1000 : life * 250));
  });
  const limit = memory === null ? '' : ` memory ${memory}`;
  process.stdout.write(
    `ready ${target} job ${job} task ${task} process ${process.pid} threads ${addon.getThreads()} ${addon.instructionSet()}${limit}\n`,
  );
  await told;
  await quiet(addon);
  // TensorFlow's server cannot be stopped: it ends with the process.
  process.exit(0);
}
