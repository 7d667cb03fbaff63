/** The call that writes what a server holds of a table and its slots, as it is at one moment while steps go on. */
import type { NodeMessage } from '../../../base/protobuf/graph_messages.js';
import { ServerCall } from '../server_call.js';
import { attribute, constant, FLOAT, INT32, node, placeholder, STRING, type ServerGraph } from '../server_graph.js';
import type { ServerSession } from '../server_session.js';
import type { ServerVariable } from '../variables.js';
import type { Block } from './slices.js';

/** A shard of a table or of a slot, as it is written. */
export interface SavedPiece {
  readonly variable: ServerVariable;
  /** The tensor of the checkpoint. */
  readonly name: string;
  /** The slice of it that each block is. */
  readonly slices: readonly string[];
}

/** What a server holds of a table and its slots: blocks of the same rows of all pieces, the table first. */
export interface SavedPart {
  readonly device: number;
  readonly blocks: readonly Block[];
  readonly pieces: readonly SavedPiece[];
}

/** `purpose`: what other clients find the save by. `prefixes`: where each block is written. */
export function savingCall(
  { graph }: ServerSession,
  isStock: boolean,
  { blocks, pieces }: SavedPart,
  purpose: string,
  prefixes: readonly string[],
): ServerCall {
  const n = savingNodes(graph, isStock, blocks, pieces);
  const call = new ServerCall();
  const { gate } = pieces[0]!.variable;
  if (!isStock) call.feed(`${n}/purpose`, [purpose], []);
  const names = pieces.map(({ name }) => name);
  call.feed(`${n}/names`, names, [names.length]);
  prefixes.forEach((prefix, i) => {
    const slices = pieces.map((piece) => piece.slices[i]!);
    call.feed(`${n}/${i}/prefix`, [prefix], []);
    call.feed(`${n}/${i}/slices`, slices, [slices.length]);
  });
  call.target(n);
  if (gate !== null) {
    gate.use(call);
    call.target(`${n}/still`);
  }
  return call;
}

/**
 * Nodes that write block after block: rows of the next one are copied while one is written, and not of more. The
 * snapshot lasts as long as a node needs its number.
 */
function savingNodes(
  graph: ServerGraph,
  isStock: boolean,
  blocks: readonly Block[],
  pieces: readonly SavedPiece[],
): string {
  const variables = pieces.map(({ variable }) => variable);
  const values = variables.map((each) => each.values);
  return graph.once(`save ${variables.map((each) => each.node).join()}`, (m) => {
    const begin = isStock
      ? []
      : [
          placeholder(`${m}/purpose`, STRING),
          node(`${m}/snapshot`, 'EmbeddingSnapshot', [`${m}/purpose`, ...values], { N: attribute.int(values.length) }),
        ];
    const writes = blocks.flatMap((block, i): NodeMessage[] => {
      const of = `${m}/${i}`;
      const waits = [...(i > 0 ? [`^${m}/${i - 1}/rows`] : []), ...(i > 1 ? [`^${m}/${i - 2}`] : [])];
      const rows = isStock
        ? values.map((each, k) => stockRows(`${of}/${k === 0 ? 'rows' : `rows${k}`}`, each, block, waits))
        : [snapshotRows(of, m, values.length, block, waits)];
      const places = values.map((_, k) => {
        if (k === 0) return `${of}/rows`;
        return isStock ? `${of}/rows${k}` : `${of}/rows:${k}`;
      });
      return [
        placeholder(`${of}/prefix`, STRING),
        placeholder(`${of}/slices`, STRING),
        ...rows.flat(),
        node(of, 'SaveV2', [`${of}/prefix`, `${m}/names`, `${of}/slices`, ...places], {
          dtypes: attribute.types(places.map(() => FLOAT)),
        }),
      ];
    });
    const all = blocks.map((_, i) => `^${m}/${i}`);
    return [
      placeholder(`${m}/names`, STRING),
      ...begin,
      ...writes,
      node(m, 'NoOp', all),
      ...(variables[0]!.gate?.after(m, [m]) ?? []),
    ];
  });
}

function numbers(name: string, ...values: readonly number[]): NodeMessage {
  const isScalar = values.length === 1;
  return constant(name, INT32, isScalar ? [] : [values.length], Int32Array.from(values));
}

function snapshotRows(of: string, m: string, count: number, block: Block, waits: readonly string[]): NodeMessage[] {
  return [
    numbers(`${of}/first`, block.first),
    numbers(`${of}/count`, block.count),
    node(`${of}/rows`, 'EmbeddingSnapshotRows', [`${m}/snapshot`, `${of}/first`, `${of}/count`, ...waits], {
      N: attribute.int(count),
    }),
  ];
}

/** TensorFlow hands these variables out as copies. */
function stockRows(name: string, values: string, { first, count }: Block, waits: readonly string[]): NodeMessage[] {
  return [
    numbers(`${name}/begin`, first, 0),
    numbers(`${name}/size`, count, -1),
    node(name, 'Slice', [values, `${name}/begin`, `${name}/size`, ...waits], {
      T: attribute.type(FLOAT),
      Index: attribute.type(INT32),
    }),
  ];
}
