/** A registry of npm packages on this machine: those of some archives. Whoever asks for another one is sent on. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

interface Packed {
  readonly manifest: Manifest;
  readonly file: string;
  readonly bytes: Buffer;
}

function output(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
  return stdout;
}

function read(archive: string): Packed {
  const manifest = JSON.parse(output('tar', '-xzOf', archive, 'package/package.json')) as Manifest;
  return { manifest, file: basename(archive), bytes: readFileSync(archive) };
}

export class Registry {
  private constructor(
    private readonly server: Server,
    private readonly packed: ReadonlyMap<string, Packed>,
    /** The machine's own registry. */
    private readonly others: string,
  ) {}

  /** Starts one that has these archives of `npm pack`. */
  static async start(archives: readonly string[]): Promise<Registry> {
    const packed = new Map(archives.map(read).map((each) => [each.manifest.name, each]));
    const server = createServer();
    const registry = new Registry(server, packed, output('npm', 'config', 'get', 'registry').trim());
    server.on('request', ({ url = '/' }, response) => registry.answer(url, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  private answer(url: string, response: ServerResponse): void {
    const [name = '', file] = decodeURIComponent(url.slice(1)).split('/-/');
    const found = this.packed.get(name);
    if (found !== undefined && file === undefined) response.end(JSON.stringify(this.document(found)));
    else if (found !== undefined && found.file === file) response.end(found.bytes);
    else response.writeHead(302, { location: new URL(url.slice(1), this.others).href }).end();
  }

  private document({ manifest, file, bytes }: Packed): object {
    const hash = (algorithm: string, form: 'hex' | 'base64'): string =>
      createHash(algorithm).update(bytes).digest(form);
    const dist = {
      tarball: `${this.url}${manifest.name}/-/${file}`,
      shasum: hash('sha1', 'hex'),
      integrity: `sha512-${hash('sha512', 'base64')}`,
    };
    const versions = { [manifest.version]: { ...manifest, dist } };
    return { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions };
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
