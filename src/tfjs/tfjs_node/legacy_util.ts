/** Functions of Node's `util` that the published tfjs-node still calls. */
import util from 'node:util';

/** Gives Node back `util.isNullOrUndefined`, which Node 23 dropped and tfjs-node 4.22 calls in every op with a type. */
export function restoreLegacyUtil(): void {
  const legacy = util as unknown as Record<string, unknown>;
  legacy['isNullOrUndefined'] ??= (value: unknown) => value === null || value === undefined;
}
