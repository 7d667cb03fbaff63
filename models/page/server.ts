/** Serves the files of a page to this machine alone. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { InputError } from '../input_error.mjs';
import type { PageFiles } from './bundle.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

const HEADERS = {
  // Isolated from other sites, so that kernels may share memory between threads.
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  // Nothing is asked of any other server, and nothing can be. regl, which draws points, makes functions of texts.
  'content-security-policy':
    "default-src 'self'; script-src 'self' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data: blob:; worker-src 'self' blob:; connect-src 'self' data: blob:",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
};

export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `port` 0: any that is free. Throws InputError where it is taken. */
export async function servePage(files: PageFiles, port: number): Promise<PageServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1) || 'index.html';
    const file = files.get(path);
    if (file === undefined) return void response.writeHead(404, HEADERS).end();
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    response.writeHead(200, { ...HEADERS, 'content-type': type, 'content-length': file.length });
    response.end(request.method === 'HEAD' ? undefined : file);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
      reject(isTaken ? new InputError(`port ${port} cannot be used: ${error.code}; choose another by --port`) : error);
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
