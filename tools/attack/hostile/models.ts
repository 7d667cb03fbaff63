/** Ways to spoil a model in a folder. */
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../../test/helpers/random.js';

/** `model.json`, parsed; anything may be put in it. */
interface Json {
  modelTopology: { config: { layers: { class_name: unknown; config: Record<string, unknown> }[] } };
  weightsManifest: [{ paths: string[]; weights: Record<string, unknown>[] }];
}

export interface Hostile {
  readonly kind: string;
  /** What the error must say beside the name of a file; null where tfjs itself speaks of the topology. */
  readonly says: RegExp | null;
  /** Spoils the model in `folder`, which is whole. */
  spoil(folder: string, random: Random): void;
}

function kind(name: string, says: RegExp | null, spoil: Hostile['spoil']): Hostile {
  return { kind: name, says, spoil };
}

/** The text of `model.json` becomes another. */
function text(name: string, says: RegExp, change: (text: string, random: Random) => string | Buffer): Hostile {
  return kind(name, says, (folder, random) => {
    const path = join(folder, 'model.json');
    writeFileSync(path, change(readFileSync(path, 'utf8'), random));
  });
}

/** Something in `model.json` becomes something else. */
function json(name: string, says: RegExp | null, change: (json: Json, random: Random) => void): Hostile {
  return kind(name, says, (folder, random) => {
    const path = join(folder, 'model.json');
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as Json;
    change(parsed, random);
    // JSON has no Infinity, but a number that is read as one.
    writeFileSync(path, JSON.stringify(parsed).replace('"1e999"', '1e999'));
  });
}

/** One field of a spec of a weight. */
function spec(name: string, says: RegExp, fields: (random: Random) => Record<string, unknown>): Hostile {
  return json(name, says, ({ weightsManifest: [{ weights }] }, random) => {
    Object.assign(random.pick(weights), fields(random));
  });
}

/** The manifest names another path, beside which there is the real file. */
function path(name: string, says: RegExp, make: (folder: string, weights: string) => string): Hostile {
  return kind(name, says, (folder) => {
    const file = join(folder, 'model.json');
    const parsed = JSON.parse(readFileSync(file, 'utf8')) as Json;
    const { paths } = parsed.weightsManifest[0];
    paths[0] = make(folder, paths[0]!);
    writeFileSync(file, JSON.stringify(parsed));
  });
}

/** The file of the weights becomes something else. */
function file(name: string, says: RegExp, change: (path: string, random: Random) => void): Hostile {
  return kind(name, says, (folder, random) => {
    const weights = readdirSync(folder).find((each) => each.startsWith('weights-'))!;
    change(join(folder, weights), random);
  });
}

function replace(path: string, make: (path: string) => void): void {
  rmSync(path);
  make(path);
}

const pipe = (path: string): void => void execFileSync('mkfifo', [path]);

const TEXTS: Hostile[] = [
  text('an empty file', /JSON/, () => ''),
  text('null', /which holds null/, () => 'null'),
  text('a list', /which holds/, () => '[]'),
  text('a number', /which holds/, () => '42'),
  text('a string', /which holds/, () => '"model"'),
  text('true', /which holds/, () => 'true'),
  text('a text cut off', /JSON/, (whole, random) => whole.slice(0, random.whole(1, whole.length - 1))),
  text('noise', /JSON/, (whole, random) => Buffer.from(Array.from(whole, () => random.whole(128, 256)))),
  text('zeros', /JSON/, (whole) => Buffer.alloc(whole.length)),
  text('UTF-16', /JSON/, (whole) => Buffer.from(whole, 'utf16le')),
  text('more behind the end', /JSON/, (whole, random) => whole + random.pick(['}', ' x', '\0', '{}'])),
  text('a million brackets', /JSON/, () => '['.repeat(1_000_000)),
  text('deep lists', /levels/, (whole) => whole.replace('{', `{"deep":${'['.repeat(5000)}${']'.repeat(5000)},`)),
  text('a deep topology', /levels/, (whole) =>
    whole.replace('"layers":[', `"layers":[${'{"config":'.repeat(20_000)}0${'}'.repeat(20_000)},`),
  ),
  kind('a text without end', /at most \d+ bytes/, (folder) => truncateSync(join(folder, 'model.json'), 2 ** 40)),
  kind('no file', /a file that exists/, (folder) => rmSync(join(folder, 'model.json'))),
  kind('a folder', /a regular file/, (folder) => replace(join(folder, 'model.json'), mkdirSync)),
  kind('a pipe', /a regular file/, (folder) => replace(join(folder, 'model.json'), pipe)),
  kind('a device', /a regular file/, (folder) =>
    replace(join(folder, 'model.json'), (at) => symlinkSync('/dev/zero', at)),
  ),
  kind('a circle of links', /ELOOP/, (folder) => replace(join(folder, 'model.json'), (at) => symlinkSync(at, at))),
];

const MANIFESTS: Hostile[] = [
  ...[null, {}, 'weights', 7, true].map((value) =>
    json(`weightsManifest ${JSON.stringify(value)}`, /weightsManifest/, (whole) => {
      Object.assign(whole, { weightsManifest: value });
    }),
  ),
  ...[null, [], 'group', 7].map((value) =>
    json(`a group ${JSON.stringify(value)}`, /weightsManifest/, (whole) => {
      (whole.weightsManifest as unknown[])[0] = value;
    }),
  ),
  ...[undefined, null, 'a.bin', [null], [7], [''], [['a.bin']]].map((value) =>
    json(`paths ${JSON.stringify(value)}`, /paths/, ({ weightsManifest: [group] }) => {
      Object.assign(group, { paths: value });
    }),
  ),
  ...[undefined, null, {}, 'weights'].map((value) =>
    json(`weights ${JSON.stringify(value)}`, /weights/, ({ weightsManifest: [group] }) => {
      Object.assign(group, { weights: value });
    }),
  ),
  ...[null, 7, 'kernel', []].map((value) =>
    json(`a weight ${JSON.stringify(value)}`, /no object/, ({ weightsManifest: [{ weights }] }, random) => {
      (weights as unknown[])[random.whole(0, weights.length)] = value;
    }),
  ),
];

const SPECS: Hostile[] = [
  ...[undefined, null, '', 7, '__proto__', ['kernel']].map((name) =>
    spec(`a name ${JSON.stringify(name)}`, /without a name/, () => ({ name })),
  ),
  ...[undefined, null, 3, '3', {}, [-1], [1.5], ['3'], [null], [[3]], ['1e999']].map((shape) =>
    spec(`a shape ${JSON.stringify(shape)}`, /whose shape is/, () => ({ shape })),
  ),
  spec('a shape that overflows', /whose shape is/, () => ({ shape: [2 ** 40, 2 ** 40] })),
  spec('a shape above the memory', /bytes of weights/, () => ({ shape: [2 ** 44] })),
  ...[undefined, null, 7, 'float64', 'toString', '__proto__', 'FLOAT32'].map((dtype) =>
    spec(`a dtype ${JSON.stringify(dtype)}`, /whose dtype is/, () => ({ dtype })),
  ),
  ...[null, {}, 'uint8', { dtype: 'uint4' }, { dtype: 'uint8' }, { dtype: 'uint8', min: 0 }, { dtype: 'toString' }].map(
    (quantization) => spec(`quantized ${JSON.stringify(quantization)}`, /quantization/, () => ({ quantization })),
  ),
  spec('whole numbers as halves', /quantization/, () => ({ dtype: 'int32', quantization: { dtype: 'float16' } })),
  spec('strings where numbers are', /weights|string of shape/, () => ({ dtype: 'string' })),
  spec('strings without end', /bytes of weights/, () => ({ dtype: 'string', shape: [2 ** 48] })),
  json('two weights of one name', /two called/, ({ weightsManifest: [{ weights }] }, random) => {
    weights.push({ ...random.pick(weights) });
  }),
];

/** The manifest fits its file, but not the model. */
const WEIGHTS: Hostile[] = [
  json('a weight left out', /bytes of weights/, ({ weightsManifest: [{ weights }] }, random) => {
    weights.splice(random.whole(0, weights.length), 1);
  }),
  json('a weight too many', /bytes of weights/, ({ weightsManifest: [{ weights }] }) => {
    weights.push({ name: 'more', shape: [3], dtype: 'float32' });
  }),
  json('an empty weight too many', /no target variable: more/, ({ weightsManifest: [{ weights }] }) => {
    weights.push({ name: 'more', shape: [0], dtype: 'float32' });
  }),
  json('a renamed weight', /no target variable: other/, ({ weightsManifest: [{ weights }] }) => {
    weights[0]!['name'] = 'other';
  }),
  json('a weight of the optimizer', /are not set/, ({ weightsManifest: [{ weights }] }) => {
    weights[0]!['group'] = 'optimizer';
  }),
  json('a table lying on its side', /for .*embeddings.*\[3, 9\]/, ({ weightsManifest: [{ weights }] }) => {
    weights[0]!['shape'] = [3, 9];
  }),
  json('a table of whole numbers', /for .*embeddings.*int32/, ({ weightsManifest: [{ weights }] }) => {
    weights[0]!['dtype'] = 'int32';
  }),
];

const FILES: Hostile[] = [
  file('no weights', /a file that exists.*weights-/, (at) => rmSync(at)),
  file('weights cut off', /bytes of weights/, (at, random) => {
    const bytes = readFileSync(at);
    writeFileSync(at, bytes.subarray(0, random.whole(0, bytes.length)));
  }),
  file('weights and more', /bytes of weights/, (at, random) =>
    writeFileSync(at, Buffer.concat([readFileSync(at), Buffer.alloc(random.whole(1, 100))])),
  ),
  file('a folder of weights', /a regular file/, (at) => replace(at, mkdirSync)),
  file('weights from a pipe', /a regular file/, (at) => replace(at, pipe)),
  file('weights from a device', /leaves the folder/, (at) => replace(at, (name) => symlinkSync('/dev/zero', name))),
  file('weights by a link out of the folder', /leaves the folder/, (at) => {
    const elsewhere = join(tmpdir(), `weights-${process.pid}.bin`);
    renameSync(at, elsewhere);
    symlinkSync(elsewhere, at);
  }),
  file('weights by a broken link', /a file that exists/, (at) => replace(at, (name) => symlinkSync('nowhere', name))),
  path('a path to a device', /leaves the folder/, () => '../../../../../../../../dev/zero'),
  path('a path from the root', /leaves the folder/, (folder, weights) => join(folder, weights)),
  path('a path to the parent', /leaves the folder/, () => '..'),
  path('a path to the folder', /leaves the folder/, () => '.'),
  path('a path out of the folder and back', /leaves the folder/, (folder, weights) => {
    mkdirSync(join(folder, 'in'));
    return `in/../../${weights}`;
  }),
  path('a path by a linked folder', /leaves the folder/, (folder, weights) => {
    symlinkSync('/dev', join(folder, 'in'));
    return weights.length > 0 ? 'in/zero' : '';
  }),
  path('a path with a zero', /leaves the folder/, (_folder, weights) => `${weights}\0.bin`),
  path('a path without end', /ENAMETOOLONG/, () => 'w'.repeat(5000)),
  path('a URL', /a file that exists/, (_folder, weights) => `https://localhost/${weights}`),
  json('the same file twice', /twice/, ({ weightsManifest: [{ paths }] }) => void paths.push(paths[0]!)),
  kind('the same file by two names', /twice/, (folder) => {
    const at = join(folder, 'model.json');
    const parsed = JSON.parse(readFileSync(at, 'utf8')) as Json;
    const { paths } = parsed.weightsManifest[0];
    linkSync(join(folder, paths[0]!), join(folder, 'again.bin'));
    paths.push('again.bin');
    writeFileSync(at, JSON.stringify(parsed));
  }),
  kind('a table of which the disk holds nothing', /fit into \d+ bytes of memory/, (folder) => {
    const at = join(folder, 'model.json');
    const parsed = JSON.parse(readFileSync(at, 'utf8')) as Json;
    const [{ paths, weights }] = parsed.weightsManifest;
    weights.splice(0, weights.length, { name: 'table', shape: [2 ** 34, 16], dtype: 'float32' });
    truncateSync(join(folder, paths[0]!), 2 ** 40);
    writeFileSync(at, JSON.stringify(parsed));
  }),
];

const TOPOLOGIES: Hostile[] = [
  ...[undefined, null, [], 'Sequential', 7].map((modelTopology) =>
    json(`a topology ${JSON.stringify(modelTopology)}`, /modelTopology/, (whole) => {
      Object.assign(whole, { modelTopology });
    }),
  ),
  ...[{}, { class_name: 'Nothing', config: {} }, { class_name: 'Sequential' }, { config: {} }].map((modelTopology) =>
    json(`a topology ${JSON.stringify(modelTopology)}`, null, (whole) => {
      Object.assign(whole, { modelTopology });
    }),
  ),
  ...[null, {}, 7, [null], [7], [{}], [{ class_name: 'Dense' }]].map((layers) =>
    json(`layers ${JSON.stringify(layers)}`, null, ({ modelTopology: { config } }) => {
      Object.assign(config, { layers });
    }),
  ),
  ...[null, 7, 'TfjsEmbeddings>Nothing', '__proto__'].map((name) =>
    json(`a layer of class ${JSON.stringify(name)}`, null, ({ modelTopology: { config } }) => {
      config.layers[0]!.class_name = name;
    }),
  ),
  ...[0, -1, 1.5, '9', null, 2 ** 31, 2 ** 60].map((rows) =>
    json(`a table of ${JSON.stringify(rows)} rows`, null, ({ modelTopology: { config } }) => {
      config.layers[0]!.config['input_dim'] = rows;
    }),
  ),
  json('a table above the memory', null, ({ modelTopology: { config } }) => {
    Object.assign(config.layers[0]!.config, { input_dim: 2 ** 31 - 1, output_dim: 64 });
  }),
  ...Object.entries({
    combiner: 'most',
    max_norm: -1,
    out_of_range: 'wrap',
    mask_zero: 3,
    name: 7,
    table: { name: 3 },
  }).map(([field, value]) =>
    json(`a layer with ${field} ${JSON.stringify(value)}`, null, ({ modelTopology: { config } }) => {
      config.layers[0]!.config[field] = value;
    }),
  ),
];

/** All of them, each spoiling another thing. */
export const HOSTILE_MODELS: readonly Hostile[] = [
  ...TEXTS,
  ...MANIFESTS,
  ...SPECS,
  ...WEIGHTS,
  ...FILES,
  ...TOPOLOGIES,
];
