/** Answers calls of TensorFlow's tests with this package: node --import tsx main.ts, frames on its standard streams. */
import * as tf from '@tensorflow/tfjs';
import '../../../../src/node.js';
import { readCalls, writeAnswer, type Call } from './frames.js';
import { TpuCalls } from './tpu_calls.js';
import { GraphOpCalls, callableOps, type NodeCall } from './graph_op_calls.js';

// Frames are all that may go to standard output.
console.log = console.error;
console.info = console.error;

const graphOps = await GraphOpCalls.make();
const tpu = new TpuCalls();

type Method = (given: never, buffers: readonly Buffer[], out: Uint8Array[]) => unknown;
const METHODS: Readonly<Record<string, Method>> = {
  ops: () => callableOps(),
  op: (call: NodeCall, buffers, out) => graphOps.run(call, buffers, out),
  'tpu.start': (given: Parameters<TpuCalls['start']>[0]) => tpu.start(given),
  'tpu.make': (given: Parameters<TpuCalls['make']>[0], buffers) => tpu.make(given, buffers),
  'tpu.fields': (given: Parameters<TpuCalls['fields']>[0]) => tpu.fields(given),
  'tpu.config': (given: Parameters<TpuCalls['config']>[0]) => tpu.config(given),
  'tpu.plain': (given: Parameters<TpuCalls['plain']>[0], buffers, out) => tpu.plain(given, buffers, out),
  'tpu.call': (given: Parameters<TpuCalls['call']>[0], buffers, out) => tpu.call(given, buffers, out),
};

async function answer({ method, arguments: given, buffers }: Call): Promise<void> {
  const out: Uint8Array[] = [];
  try {
    const result = await METHODS[method]!(given as never, buffers, out);
    writeAnswer(process.stdout, { result, buffers: out });
  } catch (error) {
    const { name, message, argument, stack } = error as Error & { argument?: string };
    if (argument === undefined) console.error(stack);
    const told = argument === undefined ? { name, message } : { name, message, argument };
    writeAnswer(process.stdout, { error: told, buffers: [] });
  }
}

await tf.setBackend('cpu');
for await (const call of readCalls(process.stdin)) await answer(call);
