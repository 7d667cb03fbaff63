/** Graphs are programs. Those that would do more than compute are not run. */
import { ValueError, described } from '../../../base/errors.js';
import { ALLOWED_OPS } from './allowed_ops.js';
import { FILE_READERS, FilesOfGraph } from './files_of_graph.js';
import { GraphOutline, textOf, type NodeOutline } from './graph_outline.js';
import type { MetaGraphMessage } from '../wire/saved_model_messages.js';

/** Every SavedModel of TensorFlow can save itself again; that must not be among what loading or a signature runs. */
const SAVING: ReadonlySet<string> = new Set(['SaveV2', 'MergeV2Checkpoints']);

/** Types of tensors that hold handles: written down, they would stand for objects of other code. */
const HANDLES: ReadonlySet<number> = new Set([20, 21]);

/** Where a graph may print; everything else is a file. */
const STREAMS = /^(stdout|stderr|log\((info|warning|error)\))?$/;

/** What a node does that no graph may do; null where it does nothing of the kind. */
function offence(node: NodeOutline, graph: GraphOutline): string | null {
  const { op = '', attributes = {} } = node;
  if (op === 'PrintV2') {
    const stream = textOf(node, 'output_stream');
    return STREAMS.test(stream) ? null : `PrintV2 to ${stream}`;
  }
  if (SAVING.has(op) || FILE_READERS.has(op) || graph.isFunction(op)) return null;
  if (!ALLOWED_OPS.has(op)) return op;
  const isWritten = op === 'Const' || op === 'ParseTensor';
  const type = attributes['dtype']?.type ?? attributes['out_type']?.type ?? 0;
  return isWritten && HANDLES.has(type) ? `${op} of a handle` : null;
}

/** What the loader and the signatures ask for: their nodes. */
function roots({ signatures = {}, saver, collections = {} }: MetaGraphMessage<Uint8Array>): string[] {
  const outputs = Object.values(signatures).flatMap((each) => Object.values(each.outputs ?? {}));
  const collected = Object.values(collections).flatMap(({ nodeList }) => nodeList?.value ?? []);
  return [...outputs.map(({ name = '' }) => name), saver?.restoreOpName ?? '', ...collected];
}

/** Throws ValueError for a graph with an op that does more than compute, or reads what does not lie in the folder. */
export function checkOps(path: string, meta: MetaGraphMessage<Uint8Array>): void {
  const graph = new GraphOutline(meta.graph ?? new Uint8Array(0));
  const refuse = (what: string): never => {
    const received = described(`${path}, whose graph holds ${what}`);
    throw new ValueError('directory', 'a SavedModel whose ops compute and do nothing else', received);
  };
  for (const { node } of graph.all) {
    const found = offence(node, graph);
    if (found !== null) refuse(found);
  }
  for (const { op = '' } of graph.nodesThatRun(roots(meta))) if (SAVING.has(op)) refuse(op);
  new FilesOfGraph(path, meta, graph).check();
}
