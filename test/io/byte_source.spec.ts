import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import 'tfjs-embeddings/node';
import { allBytes, bytesAt, folderPath, isFetched, openBytes, pathOf, positioned, textOf } from '../../src/io/byte_source.js'; // prettier-ignore
import { expectError, expectRejection } from '../helpers/errors.js';

const BYTES = Uint8Array.of(1, 2, 3, 4, 5);

describe('bytes from wherever they are', () => {
  let folder: string;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bytes (1) '));
    writeFileSync(join(folder, 'five'), BYTES);
    server = createServer(({ url: path }, response) => {
      response.statusCode = path === '/five' ? 200 : 404;
      response.end(BYTES);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await new Promise((resolve) => server.close(resolve));
  });

  it('are the same from a path, URLs, a blob and memory, each under its name', async () => {
    const path = join(folder, 'five');
    const sources: readonly (readonly [unknown, string])[] = [
      [path, path],
      [`file://${path}`, path],
      [pathToFileURL(path), path],
      [`${url}/five`, `${url}/five`],
      [new URL(`${url}/five`), `${url}/five`],
      [new Blob([BYTES]), 'the blob'],
      [Object.assign(new Blob([BYTES]), { name: 'picked.bin' }), 'picked.bin'],
      [BYTES.buffer.slice(0), 'the bytes'],
      [BYTES, 'the bytes'],
    ];
    for (const [given, name] of sources) {
      const source = await openBytes(given);
      expect([source.name, source.size]).toEqual([name, 5]);
      expect([...allBytes(source)]).toEqual([...BYTES]);
      expect([...bytesAt(source, 1, 3)]).toEqual([2, 3, 4]);
      expectError(() => bytesAt(source, 3, 3), 'ValueError', 'source', `${name}, which ends before`);
      expectError(() => bytesAt(source, 9, 1, 'file'), 'ValueError', 'file');
      source.close();
    }
    expect(positioned(BYTES).size).toBe(5);
    const inMemory = await openBytes(BYTES);
    expect(allBytes(inMemory)).toBe(BYTES);
  });

  it('name what cannot be read', async () => {
    await expectRejection(() => openBytes(''), 'ValueError', 'source', '""');
    await expectRejection(() => openBytes(3, 'file'), 'TypeError', 'file', '3');
    await expectRejection(() => openBytes(join(folder, 'none'), 'file'), 'ValueError', 'file', 'none');
    await expectRejection(() => openBytes(`${url}/other`), 'RuntimeError', 'source', `${url}/other`);
    await expectAsync(openBytes(`${url}/other`)).toBeRejectedWithError(/404/);
  });

  it('are fetched from URLs alone', () => {
    const fetched = ['http://a/b', 'https://a', 'blob:x', 'a+b.c-1:x', 'HTTP://A'];
    const paths = ['a/b', '/a:b', './http://a', 'file:///a', 'C:\\a', 'c:/a', '1a:x', 'a b:c'];
    for (const text of fetched) expect(isFetched(text)).withContext(text).toBeTrue();
    for (const text of paths) expect(isFetched(text)).withContext(text).toBeFalse();
    expect([pathOf('file:///a%20b'), pathOf('/a'), pathOf('afile://')]).toEqual(['/a%20b', '/a', 'afile://']);
    expect([textOf(new URL('file:///a%20b')), textOf(new URL('http://h/a%20b'))]).toEqual(['/a b', 'http://h/a%20b']);
    const onWindows = new URL('file:///C:/m%C3%BCnzen/a');
    expect(textOf(onWindows)).toBe('/C:/münzen/a');
    const { platform } = process;
    try {
      Object.defineProperty(process, 'platform', { value: 'win32' });
      expect(textOf(onWindows)).toBe('C:/münzen/a');
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
    }
  });

  it('lie in folders, which are no URLs', () => {
    expect(['/a', 'file:///a', 'a:b', './x://y', '1a://b'].map((text) => folderPath(text, 'f'))).toEqual(['/a', '/a', 'a:b', './x://y', '1a://b']); // prettier-ignore
    for (const text of ['', 'file://', 'http://a', 'indexeddb://a', 'A1+.-://b']) {
      expectError(() => folderPath(text, 'f'), 'ValueError', 'f', text);
    }
  });
});
