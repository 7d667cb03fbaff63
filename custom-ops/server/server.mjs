/** The command `server`: its options, and what they may be. */
import { parseArgs } from 'node:util';
import { addressOf } from './address.mjs';

const HELP = `Usage: tfjs-embeddings server --task JOB:INDEX --listen ADDRESS:PORT --network-is-private
       tfjs-embeddings server --check ADDRESS:PORT [--json]

Starts a parameter server: TensorFlow's own, with the ops of this package. emb.connectCluster puts tables on it.
Prints one line, "ready grpc://ADDRESS:PORT ...", when it answers. SIGTERM and SIGINT let running calls finish first.

  --task JOB:INDEX        which task of the cluster it is, such as ps:0; jobs: ps, worker, chief
  --listen ADDRESS:PORT   where clients reach it. It listens on all interfaces whatever address is given
  --threads N             threads for the work of an op, 1 to 64 (as many as there are cores)
  --memory BYTES          what it may use: plans of tables keep to it. It is no limit that the system enforces
  --life SECONDS          ends by itself after so long
  --until-input-ends      ends when its standard input does, and so with the program that started it
  --network-is-private    says that nobody else reaches the port: without it the server does not start, as whoever
                          reaches it runs code with its rights, and nothing is encrypted
  --check ADDRESS:PORT    asks a server whether it lives, which ops it has, and for its memory; exit code 1 if it does not
                          answer within 5 seconds
  --json                  what --check finds, as JSON
`;

const OPTIONS = {
  task: { type: 'string' },
  listen: { type: 'string' },
  threads: { type: 'string' },
  memory: { type: 'string' },
  life: { type: 'string' },
  'until-input-ends': { type: 'boolean' },
  'network-is-private': { type: 'boolean' },
  check: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/** As in TensorFlow's clusters; evaluators serve nobody. */
const JOBS = ['ps', 'worker', 'chief'];
const MOST_TASK = 2 ** 31 - 1;

/** What the caller got wrong. */
class Wrong extends Error {}

function whole(name, text, most) {
  if (text === undefined) return null;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
  throw new Wrong(`--${name}: expected a whole number from 1 to ${most}, received ${text}`);
}

function positive(name, text) {
  if (text === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw new Wrong(`--${name}: expected a number above 0, received ${text}`);
}

function address(name, text) {
  const found = addressOf(text);
  if (found === null) throw new Wrong(`--${name}: expected ADDRESS:PORT, received ${text}`);
  return found;
}

function taskOf(text) {
  const [, job, index] = /^([^:]*):(\d+)$/.exec(text) ?? [];
  if (index === undefined || Number(index) > MOST_TASK)
    throw new Wrong(`--task: expected JOB:INDEX, such as ps:0, received ${text}`);
  if (!JOBS.includes(job)) throw new Wrong(`--task: expected a job of ${JOBS.join(', ')}, received ${job}`);
  return { job, task: Number(index) };
}

function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS, strict: true }).values;
  } catch (error) {
    throw new Wrong(error.message);
  }
}

/** What is asked for; throws Wrong. */
function asked(args) {
  const given = parse(args);
  if (given.help) return { help: true };
  if (given.check !== undefined) {
    const other = Object.keys(given).find((name) => name !== 'check' && name !== 'json');
    if (other !== undefined) throw new Wrong(`--${other}: expected without --check, which starts no server`);
    return { check: address('check', given.check), json: given.json === true };
  }
  if (given.json) throw new Wrong('--json: expected with --check');
  for (const name of ['task', 'listen']) if (given[name] === undefined) throw new Wrong(`--${name} is missing`);
  const settings = {
    ...taskOf(given.task),
    address: address('listen', given.listen),
    threads: whole('threads', given.threads, 64),
    memory: whole('memory', given.memory, Number.MAX_SAFE_INTEGER),
    life: positive('life', given.life),
    untilInputEnds: given['until-input-ends'] === true,
  };
  if (given['network-is-private']) return { settings };
  throw new Wrong(
    '--network-is-private is missing: whoever reaches the port runs code with the rights of this process, and nothing is encrypted; say so where nobody else can',
  );
}

/** Runs the command; resolves to its exit code, of a server that was started never. */
export async function server(args) {
  let what;
  try {
    what = asked(args);
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    process.stderr.write(`server: ${error.message}\n`);
    return 2;
  }
  if (what.help) {
    process.stdout.write(HELP);
    return 0;
  }
  // Loaded now: help and errors need neither packages nor TensorFlow.
  if (what.check !== undefined) return (await import('./check.mjs')).check(what.check, what.json);
  return (await import('./serve.mjs')).serve(what.settings);
}
