/**
 * Ends while runs on a server are under way, or says why not.
 *   node --import tsx session_exit_program.ts <port> <how> <state>
 * how: `exit` by process.exit, `end` by having nothing more to do, `closed` the same with its session closed.
 */
import { createRequire } from 'node:module';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { get, openOn, runAll, runOf, values } from './session_graph.js';

createRequire(import.meta.url)('@tensorflow/tfjs-node/lib/napi-v8/tfjs_binding.node');
const addon = loadAddon();
addon.registerTensorFlow();
const [port, how, hasBegun] = [Number(process.argv[2]), process.argv[3], process.argv[4] === 'begun'];
const session = openOn({ port, target: `grpc://127.0.0.1:${port}` });
if (hasBegun) values(runAll(session, runOf([['x', Float32Array.of(1)]], ['twice'])));
addon.startRuns(session, [get(60_000), get(60_000)]);
const other = openOn({ port, target: `grpc://127.0.0.1:${port}` });
addon.startRuns(other, [get(60_000)]);
await new Promise((resolve) => setTimeout(resolve, 300));
console.log(JSON.stringify(addon.sessionInfo()));
if (how === 'closed') for (const each of [session, other]) addon.closeSession(each);
if (how === 'exit') process.exit(0);
