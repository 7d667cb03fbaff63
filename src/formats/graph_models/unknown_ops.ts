/** Graphs with unregistered ops: refused when they are loaded, or loaded with a warning where the outputs need none. */
import { ValueError, described } from '../../base/errors.js';
import { warnOnce } from '../../base/warn_once.js';
import {
  opCategories,
  type GraphArtifacts,
  type GraphDef,
  type GraphNodeDef,
} from '../../tfjs/graph_models/graph_loading.js';
import { neededNodes } from './needed_nodes.js';

/** Places of an op that an error lists. */
const MOST_PLACES = 5;

const FILE_HINT =
  'its file is not in a graph model: give the table its pairs as tensors before the conversion, with ' +
  'tf.lookup.KeyValueTensorInitializer';

/** What to do about ops that no registered op can run either. */
const HINTS: Readonly<Record<string, string>> = {
  InitializeTableFromTextFile: FILE_HINT,
  InitializeTableFromTextFileV2: FILE_HINT,
};

/** Where a node stands. */
interface Place {
  readonly node: GraphNodeDef;
  readonly text: string;
}

/** Where each op stands: nodes of the graph, of its functions and of the initializer. */
function placesByOp({ modelTopology, modelInitializer }: GraphArtifacts): Map<string, Place[]> {
  const places = new Map<string, Place[]>();
  const visit = (graph: GraphDef | undefined, suffix: string): void => {
    const add = (node: GraphNodeDef, text: string): void => {
      places.set(node.op, [...(places.get(node.op) ?? []), { node, text: `"${node.name}"${text}` }]);
    };
    for (const node of graph?.node ?? []) add(node, suffix);
    for (const { signature, nodeDef } of graph?.library?.function ?? []) {
      for (const node of nodeDef ?? []) add(node, ` of the function ${signature.name}${suffix}`);
    }
  };
  visit(modelTopology, '');
  visit(modelInitializer, ' of the initializer');
  return places;
}

/**
 * Throws ValueError with all unregistered ops, their places, and how each would be registered, where the outputs need
 * one of them, and where the initializer does, which runs at once. A graph that runs without them is told of in a warning.
 */
export function refuseUnknownOps(artifacts: GraphArtifacts, ours: ReadonlySet<string>): void {
  const places = placesByOp(artifacts);
  const categories = opCategories([...places.keys()]);
  const unknown = [...places].filter(([op]) => categories.get(op) === undefined);
  if (unknown.length === 0) return;
  const told = unknown.map(([op, all]) => {
    const texts = all.map(({ text }) => text);
    const more = all.length > MOST_PLACES ? ` and ${all.length - MOST_PLACES} more` : '';
    const known = Object.hasOwn(HINTS, op) ? HINTS[op] : undefined;
    const hint = known ?? `${registrar(op, ours)} registers it`;
    return `${op} at ${texts.slice(0, MOST_PLACES).join(', ')}${more} (${hint})`;
  });
  const needed = neededNodes(artifacts);
  if (!unknown.some(([, all]) => all.some(({ node }) => needed.has(node)))) {
    warnOnce(`a graph model holds ops that are not registered, and fails where a run needs them: ${told.join('; ')}.`);
    return;
  }
  const note = `The ops of the graph: ${[...places.keys()].sort().join(', ')}.`;
  throw new ValueError('modelTopology', 'ops that tfjs or a registered op runs', described(told.join('; ')), note);
}

function registrar(op: string, ours: ReadonlySet<string>): string {
  return ours.has(op) ? 'emb.converter.registerOps()' : `tf.registerOp('${op}', (node) => …)`;
}
