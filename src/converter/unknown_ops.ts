/** Graphs whose ops nobody runs are refused when they are loaded. */
import { ValueError, described } from '../errors.js';
import { opCategories, type GraphArtifacts, type GraphDef } from '../tfjs_patches/graph_models/graph_loading.js';

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

/** Where each op stands: nodes of the graph, of its functions and of the initializer. */
function placesByOp({ modelTopology, modelInitializer }: GraphArtifacts): Map<string, string[]> {
  const places = new Map<string, string[]>();
  const visit = (graph: GraphDef | undefined, suffix: string): void => {
    const add = (op: string, place: string): void => {
      places.set(op, [...(places.get(op) ?? []), place]);
    };
    for (const { op, name } of graph?.node ?? []) add(op, `"${name}"${suffix}`);
    for (const { signature, nodeDef } of graph?.library?.function ?? []) {
      for (const { op, name } of nodeDef ?? []) add(op, `"${name}" of the function ${signature.name}${suffix}`);
    }
  };
  visit(modelTopology, '');
  visit(modelInitializer, ' of the initializer');
  return places;
}

/** Throws ValueError with all ops that nobody runs, their places, and how each would be registered. */
export function refuseUnknownOps(artifacts: GraphArtifacts, ours: ReadonlySet<string>): void {
  const places = placesByOp(artifacts);
  const categories = opCategories([...places.keys()]);
  const unknown = [...places].filter(([op]) => categories.get(op) === undefined);
  if (unknown.length === 0) return;
  const told = unknown.map(([op, all]) => {
    const shown = all.slice(0, MOST_PLACES).join(', ');
    const more = all.length > MOST_PLACES ? ` and ${all.length - MOST_PLACES} more` : '';
    return `${op} at ${shown}${more} (${HINTS[op] ?? `${registrar(op, ours)} registers it`})`;
  });
  const note = `The ops of the graph: ${[...places.keys()].sort().join(', ')}.`;
  throw new ValueError('modelTopology', 'ops that tfjs or a registered op runs', described(told.join('; ')), note);
}

function registrar(op: string, ours: ReadonlySet<string>): string {
  return ours.has(op) ? 'emb.converter.registerOps()' : `tf.registerOp('${op}', (node) => …)`;
}
