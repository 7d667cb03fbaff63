/** Sessions anew after a failure: what is alive goes on, and what is gone on servers is told. */
import { RuntimeError, described } from '../../base/errors.js';
import { warnOnce } from '../../base/warn_once.js';
import { openSessions } from './connection.js';
import type { RunningCluster } from './register.js';
import { ServerError, type SessionFunctions } from './server_session.js';

/**
 * Opens new sessions on all servers. Returns the names of what was lost there: calls are then refused until tables were
 * restored. Throws RuntimeError where a server does not answer, and to a reader whose tables are not ready.
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
  asked.forEach(({ info }, i) => {
    state.servers[i]!.info = info;
    machine.memory.limit(i, info.memory);
  });
  cluster.devices.forgetAhead();
  for (const device of state.beside) device.revive();
  for (const device of state.devices) {
    device.session.reopen();
    device.revive();
  }
  const { membership } = state;
  try {
    const why = membership.refresh();
    const lost = state.devices.flatMap(({ variables }) => variables.lost());
    if (lost.length === 0 && why === null && !(machine.isStepUnknown && membership.isAlone())) {
      if (machine.isStepUnknown) {
        warnOnce(
          'A step was done on some servers, on all or on none: no answer came. Other clients go on with the tables.',
        );
      }
      machine.isStepUnknown = false;
      state.devices.forEach(({ variables }, device) => membership.rejoin(device, Object.keys(variables.entries())));
      machine.recover(() => undefined);
      return [];
    }
    const unknown = 'a step of which it is unknown whether it was done';
    const received = lost.length > 0 ? `${lost.length} parts of tables that a server lost` : (why ?? unknown);
    if (membership.mode !== 'readOnly') {
      machine.distrust(received);
      return lost;
    }
    machine.recover(() => undefined);
    const note = 'Who trains them calls restore(prefix); what is asked again is answered then.';
    throw new RuntimeError('tables', 'tables that are ready', described(received), note);
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    throw new RuntimeError('servers', 'TensorFlow servers that answer', described(error.message));
  }
}
