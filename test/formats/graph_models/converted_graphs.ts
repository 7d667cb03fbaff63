/** Graph models of the real converter in files of JSON lines: see test/goldens/gen_converted_graphs.py. */
import * as tf from '@tensorflow/tfjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ROOT } from '../../helpers/project.js';
import { warningsWhile } from '../../helpers/warnings.js';

export const GOLDENS = join(ROOT, 'test', 'goldens', 'converted_graphs.jsonl.gz');

/** Numbers that JSON lacks are texts. */
interface ToldTensor {
  readonly dtype: 'int32' | 'float32' | 'bool' | 'string';
  readonly shape: number[];
  readonly values: (number | string)[];
}

export interface ConvertedGraph {
  readonly name: string;
  readonly inputs: Readonly<Record<string, ToldTensor>>;
  readonly outputNames: readonly string[];
  /** What TensorFlow gave, or the error that it had. */
  readonly outputs?: readonly ToldTensor[];
  readonly error?: string;
  readonly message?: string;
  readonly model: {
    readonly modelTopology: object;
    readonly signature?: object;
    readonly modelInitializer?: object;
    readonly initializerSignature?: object;
    readonly weightSpecs: tf.io.WeightsManifestEntry[];
    /** In base 64. */
    readonly weights: string;
  };
}

export function convertedGraphs(path = GOLDENS): ConvertedGraph[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as ConvertedGraph);
}

/**
 * What became of a graph: refused, when it was loaded or because of integers that tfjs lacks, for a reason, or run; null: with
 * TensorFlow's result.
 */
export type Verdict = { readonly refused: string } | { readonly difference: string | null };

function tensorOf({ dtype, shape, values }: ToldTensor): tf.Tensor {
  return tf.tensor((dtype === 'string' ? values : values.map(Number)) as number[], shape, dtype);
}

function loaded({ model }: ConvertedGraph): Promise<tf.GraphModel> {
  const { weights, ...rest } = structuredClone(model);
  const bytes = Buffer.from(weights, 'base64');
  const weightData = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return tf.loadGraphModel({ load: () => Promise.resolve({ ...rest, weightData }) } as unknown as tf.io.IOHandler);
}

function between(actual: tf.Tensor | undefined, { dtype, shape, values }: ToldTensor): string | null {
  if (actual === undefined) return 'nothing';
  if (actual.dtype !== dtype) return `${actual.dtype} for ${dtype}`;
  if (String(actual.shape) !== String(shape)) return `[${actual.shape.join()}] for [${shape.join()}]`;
  const own = Array.from(actual.dataSync()) as (number | string)[];
  const isSame = (a: number | string, given: number | string): boolean => {
    if (dtype === 'string') return a === given;
    const b = Number(given);
    return Object.is(a, b) || a === b || (dtype === 'float32' && Math.abs(Number(a) - b) <= 1e-4 * (1 + Math.abs(b)));
  };
  if (own.length === values.length && own.every((value, at) => isSame(value, values[at]!))) return null;
  return `${own.slice(0, 12).join()} for ${values.slice(0, 12).join()}`;
}

function differenceOf(actual: readonly tf.Tensor[], { outputs, message }: ConvertedGraph): string | null {
  if (outputs === undefined) return `a result, where TensorFlow says: ${message}`;
  const found = outputs.map((expected, at) => [between(actual[at], expected), at] as const).find(([each]) => each);
  return found === undefined ? null : `output ${found[1]}: ${found[0]}`;
}

/** tfjs-converter runs some ops only in `executeAsync`, and says so when the other way is tried. */
async function run(model: tf.GraphModel, graph: ConvertedGraph): Promise<string | null> {
  const known = new Set(model.inputs.map(({ name }) => name.split(':')[0]!));
  const names = [...graph.outputNames];
  const attempt = async (isAsync: boolean): Promise<string | null> => {
    // What an asynchronous run made before it failed tfjs-converter leaves.
    tf.engine().startScope();
    const given = Object.entries(graph.inputs).filter(([name]) => known.has(name));
    const feeds = Object.fromEntries(given.map(([name, input]) => [name, tensorOf(input)]));
    try {
      const results = isAsync ? await model.executeAsync(feeds, names) : model.execute(feeds, names);
      const difference = differenceOf(Array.isArray(results) ? results : [results], graph);
      tf.dispose(results);
      return difference;
    } catch (error) {
      const { name, message } = error as Error;
      if (!isAsync && /executeAsync\(\)/.test(message)) return await attempt(true);
      if (graph.error === undefined) return `${name}: ${message}`;
      return name === 'ValueError' || name === 'TypeError'
        ? null
        : `a ${name}, which should be a ValueError: ${message}`;
    } finally {
      tf.engine().endScope();
    }
  };
  return attempt(false);
}

/** Loads a graph and runs it twice. */
export async function verdictOf(graph: ConvertedGraph): Promise<Verdict> {
  let verdict: Verdict = { difference: 'nothing ran' };
  await warningsWhile(async () => {
    let model: tf.GraphModel;
    try {
      model = await loaded(graph);
    } catch (error) {
      const { name, message } = error as Error;
      const unknown = /received (\w+) at "/.exec(message)?.[1];
      verdict = name === 'ValueError' ? { refused: unknown ?? message } : { difference: `${name} at load: ${message}` };
      return;
    }
    const difference = (await run(model, graph)) ?? (await run(model, graph));
    const isBeyond = difference !== null && /^ValueError: .*fit int32/.test(difference);
    verdict = isBeyond ? { refused: 'integers beyond int32' } : { difference };
    model.dispose();
  });
  return verdict;
}
