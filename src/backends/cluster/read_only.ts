/** The error of who changes tables that are only looked up. */
import { RuntimeError, described } from '../../base/errors.js';

export function readOnlyError(): RuntimeError {
  const note = "emb.connectCluster({tables: 'attach'}) permits it.";
  return new RuntimeError('tables', 'tables that may be changed', described("'readOnly'"), note);
}
