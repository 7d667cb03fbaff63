/** The command `inspect`: what a file of a model or of weights holds. */
import { parseArgs } from 'node:util';
import { columnsOf } from './setup/table.mjs';

const HELP = `Usage: tfjs-embeddings inspect FILE [--tensor NAME] [--statistics] [--near ROW [--count N]] [--json]

Tells what a file holds, before anything of it is loaded: of a model of Keras each layer, and why it would be refused;
of any file its tensors. Files: .keras, .h5, model.json of the converter, .npy, .npz, .safetensors, .onnx.
The exit code is 1 where a layer is refused.

  --tensor NAME    that tensor alone
  --statistics     reads the values: least, largest, mean, standard deviation, how many are 0 or no numbers
  --near ROW       the rows of --tensor that are nearest to this one, by cosine
  --count N        how many of them (10)
  --json           the same for programs
`;

const OPTIONS = {
  tensor: { type: 'string' },
  statistics: { type: 'boolean' },
  near: { type: 'string' },
  count: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/** Three or four digits, whatever the size. */
function short(number) {
  return Number.isFinite(number) ? String(Number(number.toPrecision(4))) : String(number);
}

function forPeople({ format, layers, tensors }) {
  const lines = [];
  if (layers !== null) {
    const rows = layers.map(({ name, className, refused, exports }) => {
      const out = exports === null ? '' : exports ? 'yes' : 'no';
      return [name, className, refused === null ? 'yes' : 'no', out, refused ?? ''];
    });
    lines.push(columnsOf([['layer', 'class', 'loads', 'exports', 'why not'], ...rows]), '');
  }
  const head = ['tensor', 'dtype', 'shape'];
  const withStatistics = tensors.some(({ statistics }) => statistics !== undefined);
  if (withStatistics) head.push('min', 'max', 'mean', 'deviation', 'zeros', 'not finite');
  const rows = tensors.map(({ name, dtype, shape, statistics }) => {
    const numbers = statistics === undefined ? [] : Object.values(statistics).map(short);
    return [name === '' ? '(no name)' : name, dtype, `[${shape.join(', ')}]`, ...numbers];
  });
  if (rows.length > 0) lines.push(columnsOf([head, ...rows]), '');
  for (const { near } of tensors) {
    if (near === undefined) continue;
    lines.push(columnsOf([['row', 'cosine'], ...near.map(({ row, cosine }) => [String(row), short(cosine)])]), '');
  }
  const refused = (layers ?? []).filter((layer) => layer.refused !== null).length;
  const numbers = tensors.reduce((sum, { shape }) => sum + shape.reduce((size, each) => size * each, 1), 0);
  const told = layers === null ? '' : `, ${layers.length} layers, ${refused} refused`;
  lines.push(`${format}${told}, ${tensors.length} tensors, ${numbers.toLocaleString('en')} numbers`);
  return lines.join('\n');
}

function wholeOf(text, option) {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new Error(`--${option}: expected a whole number, received ${text}`);
}

/** Prints what a file holds; resolves to the exit code. */
export async function inspect(args) {
  let read;
  try {
    read = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    process.stderr.write(`inspect: ${error.message}\n\n${HELP}`);
    return 2;
  }
  const { values: given, positionals } = read;
  if (given.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (positionals.length !== 1) {
    process.stderr.write(`inspect: expected one file, received ${positionals.length}\n\n${HELP}`);
    return 2;
  }
  // What TensorFlow.js says of itself is no part of the answer.
  const { info, warn } = console;
  console.info = console.warn = () => undefined;
  try {
    const emb = await import('tfjs-embeddings/node');
    const { tensor, statistics, near, count } = given;
    const options = { tensor, statistics, near: wholeOf(near, 'near'), count: wholeOf(count, 'count') };
    const found = await emb.inspect(positionals[0], options);
    process.stdout.write(`${given.json ? JSON.stringify(found) : forPeople(found)}\n`);
    return (found.layers ?? []).some(({ refused }) => refused !== null) ? 1 : 0;
  } catch (error) {
    process.stderr.write(`inspect: ${error.message}\n`);
    return 1;
  } finally {
    Object.assign(console, { info, warn });
  }
}
