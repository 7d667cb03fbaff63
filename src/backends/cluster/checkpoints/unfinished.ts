/** Files of saves that were not finished, as those of a server that was killed: the next save of the prefix removes them. */
import { RuntimeError, described } from '../../../base/errors.js';
import type { RunningCluster } from '../register.js';
import { ServerCall } from '../server_call.js';
import { node, placeholder, STRING } from '../server_graph.js';
import { oneCall, workLater, type Rounds, type WorkOptions } from './server_work.js';

/** Parts are called `<number>.index` and `<number>.data-…`; `.tempstate…` while they are written. */
const UNFINISHED = /^\d+\.(index|data-\d+-of-\d+)(\.tempstate\d+)?$/;

/** Where the parts of a save lie until they are joined. */
export function temporaryFolder(prefix: string): string {
  return `${prefix}_temp`;
}

/** Those of some files that a save to this prefix has left, if none is under way. */
export function unfinishedOf(prefix: string, files: readonly string[]): string[] {
  const folder = `${temporaryFolder(prefix)}/`;
  return files.filter((file) => file.startsWith(folder) && UNFINISHED.test(file.slice(folder.length)));
}

/**
 * Removes what earlier saves to this prefix have left. Throws RuntimeError where another one is under way. Servers without
 * our ops cannot tell that, nor remove files: they stay.
 */
export async function removeUnfinished(cluster: RunningCluster, prefix: string, options: WorkOptions): Promise<void> {
  const { settings, machine } = cluster;
  if (settings.servers.some(({ info }) => info.ops === 'stock')) return;
  const work = settings.devices.map(({ session }, device): Rounds => {
    const n = session.graph.once('saves under way', (m) => [
      placeholder(`${m}/purpose`, STRING),
      node(m, 'EmbeddingSnapshotCount', [`${m}/purpose`]),
    ]);
    const call = new ServerCall();
    call.feed(`${n}/purpose`, [prefix], []);
    call.fetch(n, ([count]: Int32Array) => {
      if (count === 0) return;
      const received = described(`${prefix}, where ${machine.form.nameOf(device)} still writes another save`);
      throw new RuntimeError(
        'prefix',
        'a prefix that nobody saves to',
        received,
        'Try again when it has ended, or use another prefix.',
      );
    });
    return [{ calls: [call], weight: 0 }];
  });
  await workLater(cluster, work, options, null);
  const { graph } = settings.devices[0]!.session;
  const n = graph.once('unfinished files', (m) => [
    placeholder(`${m}/pattern`, STRING),
    node(m, 'MatchingFiles', [`${m}/pattern`]),
    placeholder(`${m}/files`, STRING),
    node(`${m}/removed`, 'EmbeddingRemoveUnfinished', [`${m}/files`]),
  ]);
  let found: string[] = [];
  const looking = new ServerCall();
  looking.feed(`${n}/pattern`, [`${temporaryFolder(prefix)}/*`], []);
  looking.fetch(n, (files: readonly string[]) => (found = unfinishedOf(prefix, files)));
  await oneCall(cluster, 0, looking, options);
  if (found.length === 0) return;
  const removing = new ServerCall();
  removing.feed(`${n}/files`, found, [found.length]);
  removing.fetch(`${n}/removed`, () => undefined);
  await oneCall(cluster, 0, removing, options);
}
