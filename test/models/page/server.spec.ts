/** The server of the pages of the example programs. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { servePage } from '../../../models/page/server.js';

describe('the server of a page', () => {
  const files = new Map([
    ['index.html', new TextEncoder().encode('<p>hello')],
    ['a.js', new TextEncoder().encode('1')],
  ]);

  it('gives its files, and nothing else', async () => {
    const server = await servePage(files, 0);
    try {
      const page = await fetch(server.url);
      expect(await page.text()).toBe('<p>hello');
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      // Pages share memory between threads, and ask no other server.
      expect(page.headers.get('cross-origin-embedder-policy')).toBe('require-corp');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
      expect((await fetch(`${server.url}a.js`)).headers.get('content-type')).toBe('text/javascript');
      expect((await fetch(`${server.url}package.json`)).status).toBe(404);
      expect((await fetch(`${server.url}../../etc/passwd`)).status).toBe(404);
    } finally {
      await server.close();
    }
  });

  it('listens to this machine alone', async () => {
    const server = await servePage(files, 0);
    try {
      expect(new URL(server.url).hostname).toBe('127.0.0.1');
      // Another address of this machine, which a server of all addresses answers too.
      const socket = connect(Number(new URL(server.url).port), '127.0.0.2');
      await expectAsync(once(socket, 'connect')).toBeRejected();
      socket.destroy();
    } finally {
      await server.close();
    }
  });

  it('says that a port is taken', async () => {
    const server = await servePage(files, 0);
    try {
      const { port } = new URL(server.url);
      await expectAsync(servePage(files, Number(port))).toBeRejectedWithError(
        `port ${port} cannot be used: EADDRINUSE; choose another by --port`,
      );
    } finally {
      await server.close();
    }
  });
});
