/** The data: what its columns were taken for, and what the visitor makes of them. */
import type { Choices, Kind, Understood } from '../protocol.js';
import { byId, element, field, selectOf, table, tableRow } from '../../page/elements.js';

const KINDS: readonly (readonly [Kind, string])[] = [
  ['category', 'category'],
  ['list', 'list of categories'],
  ['number', 'number'],
  ['ignored', 'ignored'],
];
const NO_LABEL = '';

export class DataSection {
  #kinds: ReadonlyMap<string, HTMLSelectElement> = new Map();
  #item: HTMLSelectElement | null = null;
  #label: HTMLSelectElement | null = null;

  show({ name, columns, choices }: Understood): void {
    const kinds = columns.map(({ name: column }): [string, HTMLSelectElement] => {
      return [column, selectOf({ ariaLabel: `Kind of ${column}` }, KINDS, choices.kinds[column]!)];
    });
    this.#kinds = new Map(kinds);
    const names = columns.map(({ name: column }) => [column, column] as const);
    this.#item = selectOf({ id: 'item' }, names, choices.item);
    this.#label = selectOf(
      { id: 'label' },
      [[NO_LABEL, 'nothing: rows are choices'], ...names],
      choices.label ?? NO_LABEL,
    );
    this.#label.addEventListener('change', () => this.#mark());
    const rows = columns.map(({ name: column, found, examples }) =>
      tableRow(column, ['found', found], ['examples', examples.join(', ')], ['kind', this.#kinds.get(column)!]),
    );
    const understood = byId('understood');
    understood.replaceChildren(
      table(`Columns of ${name}`, ['Column', 'Found', 'Examples', 'Read as'], rows),
      element('div', { className: 'fields wide' }, field('Recommend', this.#item), field('Predict', this.#label)),
    );
    understood.hidden = false;
    this.#mark();
  }

  /** The label is read as what it is. */
  #mark(): void {
    for (const [column, select] of this.#kinds) select.disabled = column === this.#label!.value;
  }

  get choices(): Choices {
    const kinds = Array.from(this.#kinds, ([column, select]) => [column, select.value as Kind] as const);
    const label = this.#label!.value;
    return { kinds: Object.fromEntries(kinds), item: this.#item!.value, label: label === NO_LABEL ? null : label };
  }
}
