/** Takes some files out of TensorFlow's wheel, which holds 15,000, one of them 790 MB. */
import { createHash } from 'node:crypto';
import { mkdirSync, openSync, closeSync, fstatSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WritableStream } from 'node:stream/web';

const INCLUDE = /#\s*include\s+"([^"]+)"/g;
/** A line of RECORD. */
const HASH = /^(.+),sha256=([\w-]+),\d*\r?$/gm;

/**
 * Takes out of each list of `libraries` the first that is there, into FOLDER/lib; it must have the SHA-256 that the wheel
 * records. Takes `headers`, with all that they include, into FOLDER/include. Rejects with an Error in a few words.
 */
export async function unpackWheel(path, folder, { libraries, headers }, log) {
  // A package, which is not there yet when set-up begins.
  const zip = await import('@zip.js/zip.js');
  const file = openSync(path, 'r');
  try {
    const reader = new zip.ZipReader(readerOf(zip, file), { useWebWorkers: false, checkSignature: true });
    const entries = new Map((await entriesOf(reader)).map((entry) => [entry.filename, entry]));
    const hashes = await recordedHashes(entries);
    mkdirSync(join(folder, 'lib'), { recursive: true });
    for (const names of libraries) await unpackLibrary(entries, names, hashes, join(folder, 'lib'), log);
    await unpackHeaders(entries, headers, join(folder, 'include'));
  } finally {
    closeSync(file);
  }
}

/** Reads a file that is open, piece by piece. */
function readerOf(zip, file) {
  class FileReader extends zip.Reader {
    async init() {
      await super.init?.();
      this.size = fstatSync(file).size;
    }

    async readUint8Array(position, length) {
      const bytes = new Uint8Array(length);
      let done = 0;
      for (let read; done < length && (read = readSync(file, bytes, done, length - done, position + done)) > 0;) {
        done += read;
      }
      return bytes.subarray(0, done);
    }
  }
  return new FileReader();
}

async function entriesOf(reader) {
  try {
    return await reader.getEntries();
  } catch (error) {
    throw new Error(`the wheel is not a zip file: ${error.message}`);
  }
}

/** Gives the bytes of an entry to `write` as they come. */
async function read(entry, write) {
  try {
    await entry.getData(new WritableStream({ write }));
  } catch (error) {
    throw new Error(error.code === undefined ? `${entry.filename} is damaged: ${error.message}` : error.message);
  }
}

async function bytesOf(entry) {
  const pieces = [];
  await read(entry, (piece) => void pieces.push(piece));
  return Buffer.concat(pieces);
}

/** SHA-256 in base64url of each file, as the wheel's RECORD lists them. */
async function recordedHashes(entries) {
  const name = [...entries.keys()].find((each) => each.endsWith('.dist-info/RECORD'));
  if (name === undefined) throw new Error('the wheel has no RECORD');
  const record = (await bytesOf(entries.get(name))).toString();
  return new Map([...record.matchAll(HASH)].map(([, path, hash]) => [path, hash]));
}

async function unpackLibrary(entries, names, hashes, folder, log) {
  const name = names.find((each) => entries.has(`tensorflow/${each}`));
  if (name === undefined) throw new Error(`the wheel holds none of ${names.join(', ')}`);
  const entry = entries.get(`tensorflow/${name}`);
  log(`unpacking ${name} (${(entry.uncompressedSize / 1e6).toFixed(0)} MB)`);
  const hash = createHash('sha256');
  const target = openSync(join(folder, name), 'w', 0o755);
  try {
    await read(entry, (piece) => {
      hash.update(piece);
      for (let done = 0; done < piece.length;) done += writeSync(target, piece, done);
    });
  } finally {
    closeSync(target);
  }
  if (hash.digest('base64url') !== hashes.get(entry.filename)) {
    throw new Error(`${name}: its SHA-256 is not the one that the wheel records`);
  }
}

async function unpackHeaders(entries, wanted, folder) {
  const found = new Set();
  const todo = [...wanted];
  while (todo.length > 0) {
    const name = todo.pop();
    const entry = entries.get(`tensorflow/include/${name}`);
    if (found.has(name) || entry === undefined || name.split('/').includes('..')) continue;
    found.add(name);
    const content = await bytesOf(entry);
    const path = join(folder, ...name.split('/'));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    todo.push(...[...content.toString('latin1').matchAll(INCLUDE)].map(([, each]) => each));
  }
  const lacking = wanted.find((name) => !found.has(name));
  if (lacking !== undefined) throw new Error(`the wheel has no header ${lacking}`);
}
