/** A model of ONNX on its way into a file: large values are written piece by piece, never all at once. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  EXTERNAL,
  Entry,
  Graph,
  Model,
  OnnxType,
  Places,
  Tensor,
  type OnnxGraphMessage,
  type OnnxModelMessage,
} from '../../base/protobuf/onnx_messages.js';
import { extendCrc32c } from '../../io/checksums/crc32c.js';
import type { Write } from '../../io/whole_file.js';
import type { Initializer } from './graph/initializer.js';

/** Under which a file keeps what makes a layers model of it again. */
export const METADATA_KEY = 'tfjs_embeddings';

/** Values from so many bytes on lie in the other file, where there is one. */
export const EXTERNAL_FROM = 1024;
/** Where runtimes map files into memory, values begin at pages. */
const PAGE = 4096;

/** What a field begins with whose bytes follow. */
function fieldStart(number: number, length: number): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(length).finish();
}

interface Placed {
  readonly initializer: Initializer;
  /** The tensor up to its values. */
  readonly head: Uint8Array;
  /** Bytes of values that follow. */
  readonly inside: number;
}

/** Where values lie in the file beside. */
function externalPlaces(initializers: readonly Initializer[]): Map<string, number> {
  const places = new Map<string, number>();
  let end = 0;
  for (const { name, size } of initializers) {
    if (size < EXTERNAL_FROM) continue;
    const at = Math.ceil(end / PAGE) * PAGE;
    places.set(name, at);
    end = at + size;
  }
  return places;
}

function placed(initializer: Initializer, location: string | null, at: number | undefined): Placed {
  const { name, dtype, dims, size } = initializer;
  const tensor = { dims, dataType: OnnxType[dtype], name };
  if (location !== null && at !== undefined) {
    const externalData = Object.entries({ location, offset: at, length: size }).map(([key, value]) => {
      return { key, value: String(value) };
    });
    return { initializer, head: Tensor.encode({ ...tensor, externalData, dataLocation: EXTERNAL }), inside: 0 };
  }
  const start = fieldStart(Places.tensor.rawData, size);
  const plain = Tensor.encode(tensor);
  const head = new Uint8Array(plain.length + start.length);
  head.set(plain);
  head.set(start, plain.length);
  return { initializer, head, inside: size };
}

async function writeValues({ name, size, pieces }: Initializer, write: Write, checksums: Checksums): Promise<void> {
  let done = 0;
  let sum = 0;
  for await (const piece of pieces()) {
    done += piece.length;
    sum = extendCrc32c(sum, piece);
    // A piece is of use until the next is asked for; who writes may keep it longer.
    await write(piece.slice());
  }
  if (done !== size) throw new Error(`${name} has ${done} bytes of ${size}`);
  checksums.set(name, sum);
}

/** The CRC-32C of values that were written, by name. */
export type Checksums = Map<string, number>;

/** What is written: the model without its values, and those. */
export interface ModelParts {
  readonly model: Omit<OnnxModelMessage, 'graph' | 'metadataProps'>;
  /** What the file says of itself, once its values are written. */
  readonly metadata: (checksums: Checksums) => string;
  readonly graph: Omit<OnnxGraphMessage, 'initializer'>;
  readonly initializers: readonly Initializer[];
}

/** Bytes of all values. */
export function sizeOfValues({ initializers }: ModelParts): number {
  return initializers.reduce((sum, { size }) => sum + size, 0);
}

/** `location`: the name of the file beside, for large values; null: all lie within. */
export async function writeModel(
  { model, graph, initializers, metadata }: ModelParts,
  location: string | null,
  checksums: Checksums,
  write: Write,
): Promise<void> {
  const places = location === null ? new Map<string, number>() : externalPlaces(initializers);
  const all = initializers.map((each) => placed(each, location, places.get(each.name)));
  const nodes = Graph.encode(graph);
  const starts = all.map(({ head, inside }) => fieldStart(Places.graph.initializer, head.length + inside));
  const size = all.reduce((sum, { head, inside }, i) => sum + starts[i]!.length + head.length + inside, nodes.length);
  await write(Model.encode(model));
  await write(fieldStart(Places.model.graph, size));
  await write(nodes);
  for (const [i, { initializer, head, inside }] of all.entries()) {
    await write(starts[i]!);
    await write(head);
    if (inside > 0 || initializer.size === 0) await writeValues(initializer, write, checksums);
  }
  const entry = Entry.encode({ key: METADATA_KEY, value: metadata(checksums) });
  await write(fieldStart(Places.model.metadataProps, entry.length));
  await write(entry);
}

/** The file beside. */
export async function writeExternal({ initializers }: ModelParts, checksums: Checksums, write: Write): Promise<void> {
  const places = externalPlaces(initializers);
  let end = 0;
  for (const initializer of initializers) {
    const at = places.get(initializer.name);
    if (at === undefined) continue;
    if (at > end) await write(new Uint8Array(at - end));
    await writeValues(initializer, write, checksums);
    end = at + initializer.size;
  }
}
