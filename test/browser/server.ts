/** Serves files of the repository on this machine, for pages of the browser tests. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** With these a page is cross-origin isolated, and so are its workers: they have shared memory. */
export const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};

export interface Server {
  readonly origin: string;
  close(): Promise<void>;
}

/** `pages` are served from memory, everything else from `root`; `headers` go with every answer. */
export async function serve(
  root: string,
  pages: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Server> {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    const answer = (type: string, body: string | Buffer): void => {
      response.writeHead(200, { ...headers, 'content-type': type }).end(body);
    };
    const page = pages[path];
    if (page !== undefined) return answer('text/html', page);
    readFile(join(root, path)).then(
      (bytes) => answer(TYPES[extname(path)] ?? 'application/octet-stream', bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
