/** Nodes and weights of which it shows when a graph is loaded that they cannot be as in TensorFlow. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import type { GraphArtifacts, GraphNodeDef } from '../../tfjs/graph_models/graph_loading.js';
import { neededNodes } from './needed_nodes.js';
import { expressionOf } from './regular_expressions.js';

type Told = { readonly s?: unknown; readonly i?: string | number; readonly b?: boolean } | undefined;

const told = ({ attr }: GraphNodeDef, name: string): Told => attr?.[name] as Told;

/** The bytes of a text, a character each. */
function textOf(node: GraphNodeDef, name: string): string {
  const s = told(node, name)?.s;
  return typeof s === 'string' ? tf.env().global.atob(s) : String.fromCharCode(...((s ?? []) as number[]));
}

/** Throw a ValueError for a node of the op. */
const CHECKS: Readonly<Record<string, (node: GraphNodeDef) => void>> = {
  StaticRegexReplace: (node) => void expressionOf(textOf(node, 'pattern'), true),
  StringToHashBucketFast: checkBuckets,
  SparseCross: checkCross,
  RaggedCross: checkCross,
  ScatterNd: refuseIgnoring,
  TensorScatterUpdate: refuseIgnoring,
};

function checkBuckets(node: GraphNodeDef): void {
  const buckets = Number(told(node, 'num_buckets')?.i ?? 0);
  if (buckets <= 2 ** 31) return;
  throw new ValueError(node.name, 'at most 2^31 num_buckets, whose numbers fit int32', buckets);
}

/** Without a number of buckets a hash is any number of 63 bits. */
function checkCross(node: GraphNodeDef): void {
  if (told(node, 'hashed_output')?.b !== true) return;
  checkBuckets(node);
  const buckets = Number(told(node, 'num_buckets')?.i ?? 0);
  if (buckets < 1) throw new ValueError(node.name, 'num_buckets of at least 1, so that hashes fit int32', buckets);
}

function refuseIgnoring(node: GraphNodeDef): void {
  const policy = textOf(node, 'bad_indices_policy');
  if (policy !== 'IGNORE') return;
  throw new ValueError(node.name, 'a bad_indices_policy that refuses indices out of range', policy);
}

/** Ops of complex numbers, of which a backend may have none. */
const COMPLEX: readonly string[] = ['Complex', 'ComplexAbs', 'FFT', 'IFFT', 'IRFFT', 'Imag', 'RFFT', 'Real'];

function refuseComplex({ name, op }: GraphNodeDef): void {
  const backend = tf.getBackend();
  if (!COMPLEX.includes(op) || tf.getKernel('Complex', backend) !== undefined) return;
  throw new ValueError(name, `an op that the backend ${backend} has, which knows no complex numbers`, op);
}

const WEIGHTS: readonly string[] = ['bool', 'complex64', 'float32', 'int32', 'string'];

/** Throws for graphs whose outputs need what would give other results than in TensorFlow, or none. */
export function refuseOddNodes(artifacts: GraphArtifacts): void {
  const stray = artifacts.weightSpecs?.find(({ dtype }) => dtype !== undefined && !WEIGHTS.includes(dtype));
  if (stray !== undefined) {
    const expected = `weights of the dtypes that tfjs has, ${WEIGHTS.join(', ')}`;
    throw new ValueError('weightSpecs', expected, described(`${stray.dtype} of "${stray.name}"`));
  }
  for (const node of neededNodes(artifacts)) {
    refuseComplex(node);
    CHECKS[node.op]?.(node);
  }
}
