/** The section of SparseCores. */
import {
  SPARSE_CORE_NOTE,
  STACK_HEAD,
  STEP_HEAD,
  stackCells,
  stepCells,
  type ReportSparseCores,
} from '../sparse_cores.js';
import { element, escaped, textTable } from './html.js';

export function sparseCoreSection({ stacks, predictions }: ReportSparseCores): string {
  return element(
    'section',
    {},
    element('h2', {}, 'SparseCores'),
    textTable('Ids, buffers and minibatches by stack', STACK_HEAD, stacks.map(stackCells), [], [0]),
    textTable('A training step on each TPU generation', STEP_HEAD, predictions.map(stepCells), [], [0]),
    element('p', { class: 'quiet' }, escaped(SPARSE_CORE_NOTE)),
  );
}
