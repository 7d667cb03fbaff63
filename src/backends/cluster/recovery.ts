/** Sessions anew after a failure: what is gone on servers is made again, without its values. */
import { RuntimeError, described } from '../../base/errors.js';
import { openSessions } from './connection.js';
import { readOnlyError } from './read_only.js';
import type { RunningCluster } from './register.js';
import { ServerError, type SessionFunctions } from './server_session.js';

/**
 * Opens new sessions on all servers. Returns the names of what was lost there. Afterwards calls are refused until tables
 * were restored, where something was lost or a call had failed. Throws RuntimeError where a server does not answer.
 */
export async function reconnect(functions: SessionFunctions, cluster: RunningCluster): Promise<string[]> {
  const { machine, settings: state } = cluster;
  const asked = await openSessions(functions, state.settings);
  for (const { session } of asked) session.close();
  asked.forEach(({ info }, i) => {
    const before = state.servers[i]!.info;
    if (info.ops === before.ops) return;
    const expected = `a server with the ops it had, ${before.ops}`;
    throw new RuntimeError(`server ${info.address}`, expected, described(info.ops));
  });
  cluster.devices.forgetAhead();
  for (const device of state.beside) device.revive();
  const wasFaulty = machine.isFaulty;
  const lost = state.devices.flatMap((device) => {
    device.session.reopen();
    device.revive();
    try {
      return device.variables.remake(state.settings.tables === 'readOnly' ? readOnlyError : null);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      const server = machine.form.nameOf(device.index);
      throw new RuntimeError(server, 'a TensorFlow server that answers', described(error.message));
    }
  });
  if (lost.length > 0) machine.distrust(`${lost.length} parts of tables that a server lost`);
  else if (wasFaulty) machine.distrust('a step of which it is unknown whether it was done');
  return lost;
}
