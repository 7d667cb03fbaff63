/** Ways to spoil an exported model. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetsFile, ASSETS_FILE, type LayersModelAssets } from '../../../src/formats/saved_model/assets.js';
import {
  readIndexTable,
  writeIndexTable,
  type IndexEntry,
} from '../../../src/formats/saved_model/bundle/index_table.js';
import type { NodeMessage } from '../../../src/base/protobuf/graph_messages.js';
import {
  BundleEntry,
  BundleHeader,
  SavedModel,
  type BundleEntryMessage,
  type MetaGraphMessage,
} from '../../../src/formats/saved_model/wire/saved_model_messages.js';
import type { Random } from '../../../test/helpers/random.js';

export interface HostileSavedModel {
  readonly kind: string;
  /** What the error must say. */
  readonly says: RegExp;
  /** Spoils the SavedModel in `folder`, which is whole. */
  spoil(folder: string, random: Random): void;
}

/** Ops that read files, by a name that they are given or that is written in them. */
const FILE_OPS = [
  'InitializeTableFromTextFileV2',
  'InitializeTableFromTextFile',
  'RestoreV2',
  'Restore',
  'RestoreSlice',
  'GenerateVocabRemapping',
  'LoadAndRemapMatrix',
  'FixedUnigramCandidateSampler',
  'DecodeProtoV2',
  'EncodeProto',
  'ImmutableConst',
  'MatchingFiles',
  'RecordInput',
  'Skipgram',
  'LMDBReader',
  'DTensorRestoreV2',
];
const PASSWORDS = new TextEncoder().encode('/etc/passwd');
const type = (value: number): { type: number } => ({ type: value });

const FILES = ['saved_model.pb', 'variables/variables.index', 'variables/variables.data-00000-of-00001', ASSETS_FILE];
const INDEX = 'variables/variables.index';

function kind(name: string, says: RegExp, spoil: HostileSavedModel['spoil']): HostileSavedModel {
  return { kind: name, says, spoil };
}

/** The entry of one variable says something else; all sums are right. */
function entry(name: string, says: RegExp, change: (entry: BundleEntryMessage) => void): HostileSavedModel {
  return kind(name, says, (folder) => {
    const path = join(folder, INDEX);
    const [header, ...entries] = readIndexTable(new Uint8Array(readFileSync(path)));
    const place = entries.findIndex(([key]) => new TextDecoder().decode(key).startsWith('variables/0/'));
    const message = BundleEntry.decode(entries[place]![1]);
    change(message);
    entries[place] = [entries[place]![0], BundleEntry.encode(message)];
    writeFileSync(path, writeIndexTable([header!, ...entries]));
  });
}

function index(name: string, says: RegExp, change: (entries: IndexEntry[]) => IndexEntry[]): HostileSavedModel {
  return kind(name, says, (folder) => {
    const path = join(folder, INDEX);
    writeFileSync(path, writeIndexTable(change(readIndexTable(new Uint8Array(readFileSync(path))))));
  });
}

/** The file of our own says something else, and its sum is right. */
function assets(name: string, says: RegExp, change: (assets: Record<string, unknown>) => void): HostileSavedModel {
  return kind(name, says, (folder) => {
    const path = join(folder, ASSETS_FILE);
    const { crc32c: _, ...parsed } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    change(parsed);
    writeFileSync(path, assetsFile(parsed as unknown as LayersModelAssets));
  });
}

/** The graph says something else, and TensorFlow is to run it. */
function graph(name: string, says: RegExp, change: (graph: MetaGraphMessage) => void): HostileSavedModel {
  return kind(name, says, (folder) => {
    const path = join(folder, 'saved_model.pb');
    const saved = SavedModel.decode(new Uint8Array(readFileSync(path)));
    change(saved.metaGraphs![0]!);
    writeFileSync(path, SavedModel.encode(saved));
    rmSync(join(folder, 'assets.extra'), { recursive: true });
  });
}

/** An op in place of the one that the loader runs. */
function atLoading(op: string): HostileSavedModel {
  return graph(`${op} when it is loaded`, new RegExp(op), (meta) => {
    const { restoreOpName } = meta.saver!;
    const nodes = [...meta.graph!.node];
    const at = nodes.findIndex(({ name }) => name === restoreOpName);
    nodes[at] = { ...nodes[at]!, op, attr: {} };
    meta.graph!.node = nodes;
  });
}

/** A file becomes something else. */
function replaced(name: string, says: RegExp, file: string, make: (path: string) => void): HostileSavedModel {
  return kind(name, says, (folder) => {
    const path = join(folder, file);
    rmSync(path);
    make(path);
  });
}

type Layers = { config: { layers: { config: Record<string, unknown> }[] } };
const layerOf = (parsed: Record<string, unknown>): Record<string, unknown> => {
  return (parsed['modelTopology'] as Layers).config.layers.at(-1)!.config;
};

export const HOSTILE_SAVED_MODELS: readonly HostileSavedModel[] = [
  ...FILES.flatMap((file) => [
    kind(`${file}, cut off`, /./, (folder, random) => {
      const { length } = readFileSync(join(folder, file));
      truncateSync(join(folder, file), random.whole(0, length / 3));
    }),
    replaced(`${file}, a folder`, /./, file, (path) => mkdirSync(path)),
    replaced(`${file}, a pipe`, /./, file, (path) => void execFileSync('mkfifo', [path])),
    replaced(`${file}, a device without end`, /./, file, (path) => symlinkSync('/dev/zero', path)),
    replaced(`${file}, elsewhere`, /./, file, (path) => {
      const other = join(path, file.includes('/') ? '../../..' : '../..', 'elsewhere');
      writeFileSync(other, 'elsewhere');
      symlinkSync(other, path);
    }),
  ]),
  kind('a huge saved_model.pb with holes', /bytes/, (folder) => truncateSync(join(folder, 'saved_model.pb'), 2 ** 33)),
  kind('a huge index with holes', /bytes/, (folder) => truncateSync(join(folder, INDEX), 2 ** 33)),
  kind('variables elsewhere', /./, (folder) => {
    renameSync(join(folder, 'variables'), `${folder}-variables`);
    symlinkSync(`${folder}-variables`, join(folder, 'variables'));
  }),
  kind('a link out of the folder beside a graph', /a link that leaves the folder/, (folder) => {
    rmSync(join(folder, 'assets.extra'), { recursive: true });
    mkdirSync(join(folder, 'assets'));
    symlinkSync('/etc/passwd', join(folder, 'assets', 'words.txt'));
  }),
  entry('more rows than the file has', /./, (message) => {
    message.shape = { dim: [{ size: 2 ** 40 }, { size: 3 }] };
    message.size = 2 ** 40 * 12;
  }),
  entry('sizes whose product runs over', /./, (message) => {
    message.shape = { dim: [{ size: 2 ** 52 }, { size: 2 ** 52 }] };
  }),
  entry('a negative size', /./, (message) => {
    message.shape = { dim: [{ size: -9 }, { size: -3 }] };
  }),
  entry('a place before the file', /./, (message) => (message.offset = -100)),
  entry('a place behind the file', /ends before/, (message) => (message.offset = 2 ** 50)),
  entry('a file of no number', /./, (message) => (message.shard = 7)),
  entry('a file of a negative number', /./, (message) => (message.shard = -1)),
  entry('values of another sum', /checksum/, (message) => (message.crc32c = 1)),
  entry('text in place of numbers', /./, (message) => (message.dtype = 7)),
  entry('slices', /slices/, (message) => (message.slices = [{}])),
  index('no header', /header/, (entries) => entries.slice(1)),
  index('another order of bytes', /order/, ([header, ...rest]) => [
    [header![0], BundleHeader.encode({ shards: 1, endianness: 1 })],
    ...rest,
  ]),
  index('a million files', /./, ([header, ...rest]) => [
    [header![0], BundleHeader.encode({ shards: 2 ** 31 - 1 })],
    ...rest,
  ]),
  index('no variables', /variables/, ([header]) => [header!]),
  index('keys that share their beginnings', /keys/, (entries) => [
    ...entries,
    ...Array.from({ length: 100 }, (_, i): IndexEntry => {
      const key = new Uint8Array(2 ** 20).fill(120);
      key[2 ** 20 - 1] = i;
      return [key, new Uint8Array(0)];
    }),
  ]),
  assets('a key that leads out', /variables lack/, (parsed) => {
    parsed['weights'] = (parsed['weights'] as { name: string }[]).map(({ name }) => ({
      name,
      key: '../../../etc/passwd',
    }));
  }),
  assets('a layer that no memory holds', /./, (parsed) => void (layerOf(parsed)['units'] = 2 ** 45)),
  assets('a layer of another size', /shape/, (parsed) => void (layerOf(parsed)['units'] = 7)),
  assets('a layer of no known class', /./, (parsed) => {
    (parsed['modelTopology'] as { config: { layers: { class_name: string }[] } }).config.layers[0]!.class_name =
      'constructor';
  }),
  assets('a topology that holds itself a thousand times', /./, (parsed) => {
    let topology = parsed['modelTopology'];
    for (let depth = 0; depth < 1000; depth++) {
      topology = { class_name: 'Sequential', config: { name: 'in', layers: [topology] } };
    }
    parsed['modelTopology'] = topology;
  }),
  ...['WriteFile', 'ReadFile', 'PyFunc', 'SaveV2', 'MergeV2Checkpoints', 'TFRecordDataset'].map(atLoading),
  ...FILE_OPS.map((op) => {
    return graph(`${op} of a file elsewhere`, new RegExp(op), (meta) => {
      const name = { dtype: type(7), value: { tensor: { dtype: 7, shape: {}, strings: [PASSWORDS] } } };
      const read = { name: 'read_it', op, input: ['elsewhere', 'elsewhere', 'elsewhere'] };
      meta.graph!.node = [...meta.graph!.node, { name: 'elsewhere', op: 'Const', attr: name }, read];
      Object.assign(Object.values(meta.signatures!['serving_default']!.outputs!)[0]!, { name: 'read_it:0' });
    });
  }),
  graph('an op that nobody knows', /NobodyKnowsIt/, (meta) => {
    meta.graph!.node = [...meta.graph!.node, { name: 'other', op: 'NobodyKnowsIt' }];
  }),
  graph('nodes in a circle', /TensorFlow/, (meta) => {
    const loop = (name: string, input: string): object => ({
      name,
      op: 'Neg',
      input: [input],
      attr: { T: { type: 1 } },
    });
    meta.graph!.node = [...meta.graph!.node, loop('a', 'b'), loop('b', 'a')] as NodeMessage[];
  }),
];
