import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, setUpModule } from './set_up_module.js';
import { zipOf } from './zip_writer.js';

interface Archive {
  names(): string[];
  has(name: string): boolean;
  size(name: string): number;
  read(name: string): Promise<Buffer>;
  extract(name: string, path: string, onBytes?: (count: number) => void): Promise<string>;
  close(): Promise<void>;
}
interface ZipModule {
  ZipArchive: { open(path: string): Promise<Archive> };
  crc32(bytes: Uint8Array, seed?: number): number;
}

describe('ZipArchive', () => {
  const folder = emptyFolder();
  const text = Buffer.from('ids, values, weights\n'.repeat(500));
  const noise = randomBytes(3_000_000); // larger than a piece, and not compressible
  const archive = zipOf([
    { name: 'a/text.txt', bytes: text },
    { name: 'a/noise.bin', bytes: noise },
    { name: 'plain', bytes: text, stored: true },
    { name: 'empty', bytes: Buffer.alloc(0) },
  ]);
  let ZipArchive: ZipModule['ZipArchive'];
  let opened: Archive[] = [];

  beforeAll(async () => ({ ZipArchive } = await setUpModule<ZipModule>('zip.mjs')));
  afterEach(async () => {
    for (const one of opened) await one.close();
    opened = [];
  });

  async function open(bytes: Buffer): Promise<Archive> {
    const path = join(folder.path, 'archive.zip');
    writeFileSync(path, bytes);
    const result = await ZipArchive.open(path);
    opened.push(result);
    return result;
  }

  it('reads deflated, stored and empty files', async () => {
    const zip = await open(archive);
    expect(zip.names()).toEqual(['a/text.txt', 'a/noise.bin', 'plain', 'empty']);
    expect(zip.has('plain')).toBeTrue();
    expect(zip.has('other')).toBeFalse();
    expect(zip.size('a/noise.bin')).toBe(noise.length);
    expect(await zip.read('a/text.txt')).toEqual(text);
    expect(await zip.read('plain')).toEqual(text);
    expect(await zip.read('empty')).toEqual(Buffer.alloc(0));
  });

  it('extracts a file, tells its bytes and its SHA-256', async () => {
    const zip = await open(archive);
    const path = join(folder.path, 'noise.bin');
    let told = 0;
    const hash = await zip.extract('a/noise.bin', path, (count) => (told += count));
    expect(readFileSync(path).equals(noise)).toBeTrue();
    expect(told).toBe(noise.length);
    expect(hash).toBe(createHash('sha256').update(noise).digest('hex'));
  });

  it('refuses a file whose bytes were changed', async () => {
    const damaged = Buffer.from(archive);
    const at = damaged.indexOf(noise.subarray(0, 100)); // stored blocks of deflate keep the bytes as they are
    damaged[at + 50] = (damaged[at + 50] as number) ^ 1;
    const zip = await open(damaged);
    await expectAsync(zip.read('a/noise.bin')).toBeRejectedWithError(/damaged/);
    await expectAsync(zip.extract('a/noise.bin', join(folder.path, 'x'))).toBeRejectedWithError(/damaged/);
    expect(await zip.read('a/text.txt')).toEqual(text);
  });

  it('refuses an archive that was cut short, and what is no archive', async () => {
    await expectAsync(open(archive.subarray(0, archive.length - 30))).toBeRejectedWithError(/cut short/);
    await expectAsync(open(text)).toBeRejectedWithError(/not a zip archive/);
    await expectAsync(open(Buffer.alloc(0))).toBeRejectedWithError(/not a zip archive/);
  });

  it('names the file that it does not hold', async () => {
    const zip = await open(archive);
    await expectAsync(zip.read('b')).toBeRejectedWithError(/no file b/);
  });

  it('reports a file that cannot be written', async () => {
    const zip = await open(archive);
    await expectAsync(zip.extract('plain', join(folder.path, 'missing', 'x'))).toBeRejectedWithError(/ENOENT/);
  });

  it('continues a checksum over pieces', async () => {
    const { crc32 } = await setUpModule<ZipModule>('zip.mjs');
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
    expect(crc32(Buffer.from('56789'), crc32(Buffer.from('1234')))).toBe(0xcbf43926);
  });
});
