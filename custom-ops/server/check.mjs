/** Asks a server of TensorFlow whether it lives, which ops it has and how much memory it uses. */
import { graphDefinition, runOptions, sessionConfig } from './messages.mjs';
import { addonWithTensorFlow } from './tensorflow.mjs';

const LIMIT_MS = 5000;
const [NUMBERS_VERSION, NOT_FOUND] = [1, 5];

/** Prints what the server says of itself; resolves to the exit code. */
export async function check(address, asJson) {
  let facts;
  try {
    facts = await ask(address);
  } catch (error) {
    process.stderr.write(`server: ${error.message}\n`);
    return 1;
  }
  process.stdout.write(`${asJson ? JSON.stringify(facts) : forPeople(facts)}\n`);
  return 0;
}

async function ask({ host, port, text }) {
  const addon = addonWithTensorFlow();
  const begun = Date.now();
  const graph = graphDefinition(['lives', 'NoOp']);
  const session = addon.openSession(`grpc://${text}`, sessionConfig(LIMIT_MS), graph, host, port);
  const run = async (fetches, targets) => {
    const left = Math.max(1, LIMIT_MS - (Date.now() - begun));
    const nothing = [new Int32Array(0), new Uint8Array(0)];
    const group = addon.startRuns(session, [[runOptions(left), '', [], ...nothing, fetches, targets]]);
    return (await addon.finishRunsAsync(group))[0];
  };
  const failed = ({ code, message }) =>
    new Error(`${text} does not answer: ${code === 4 ? `nothing came within ${LIMIT_MS / 1000} s` : message}`);
  const life = await run('', 'lives\n');
  if (life.code !== 0) throw failed(life);
  addon.extendSession(session, graphDefinition(['info', 'EmbeddingServerInfo']), '');
  const info = await run('info:0\ninfo:1\n', '');
  if (info.code === NOT_FOUND) return { address: text, ops: 'stock' };
  if (info.code !== 0) throw failed(info);
  const [[version, seconds, limit, resident, kernels, threads, processId], [instructionSet]] = info.values;
  if (version !== NUMBERS_VERSION) throw new Error(`${text} has another version of the ops of tfjs-embeddings`);
  const known = (bytes) => (bytes < 0 ? null : bytes);
  const memory = { memoryLimit: known(limit), residentBytes: known(resident) };
  return { address: text, ops: 'tfjs-embeddings', seconds, ...memory, kernels, threads, processId, instructionSet };
}

function forPeople({ address, ops, seconds, memoryLimit, residentBytes, kernels, threads, processId, instructionSet }) {
  if (ops === 'stock') return `${address} lives, with the stock ops of TensorFlow`;
  const gigabytes = (bytes) => (bytes === null ? 'unknown' : `${(bytes / 1e9).toFixed(2)} GB`);
  return [
    `${address} lives, with the ops of tfjs-embeddings`,
    `  since      ${seconds.toFixed(0)} s, as process ${processId}`,
    `  kernels    ${kernels} at work, ${threads} threads each, ${instructionSet}`,
    `  memory     ${gigabytes(residentBytes)} in use${memoryLimit === null ? '' : ` of ${gigabytes(memoryLimit)}`}`,
  ].join('\n');
}
