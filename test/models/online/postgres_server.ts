/** A PostgreSQL server of a spec's own, where its programs are installed. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../models/servers.js';

/** Where Debian's packages put them, the newest first. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of the server's programs; null: there are none. */
export function postgresPrograms(): string | null {
  if (!existsSync(DEBIAN)) return null;
  const versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
  const folders = versions.map((version) => join(DEBIAN, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

export class PostgresServer {
  private constructor(
    readonly url: string,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(programs: string): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-postgres-'));
    // The server does not run as root; its package has made a user for it.
    const isRoot = process.getuid?.() === 0;
    const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    const identity = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
    if (isRoot) chownSync(folder, identity.uid!, identity.gid!);
    const data = join(folder, 'data');
    const options = { ...identity, cwd: folder, stdio: 'ignore' as const };
    execFileSync(
      join(programs, 'initdb'),
      ['-D', data, '-U', 'online', '--auth=trust', '--no-sync', '-E', 'UTF8'],
      options,
    );
    const port = await freePort();
    const args = ['-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off'];
    const child = spawn(join(programs, 'postgres'), args, options);
    const server = new PostgresServer(`postgres://online@127.0.0.1:${port}/postgres`, folder, child);
    const ready = ['-h', '127.0.0.1', '-p', String(port), '-t', '60', '-q'];
    for (let tries = 0; tries < 600; tries++) {
      try {
        execFileSync(join(programs, 'pg_isready'), ready, { stdio: 'ignore' });
        return server;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    await server.stop();
    throw new Error('PostgreSQL did not start');
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.exitCode === null) {
      this.child.kill('SIGQUIT');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
