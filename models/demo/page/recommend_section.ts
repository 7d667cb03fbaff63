/** Recommendations: what is known of somebody goes in, the best items come out. */
import type { Neighbour, Schema } from '../protocol.js';
import { byId, element, field, table, tableRow } from '../../page/elements.js';

const COUNT = 10;

export class RecommendSection {
  #schema: Schema | null = null;
  readonly #form = byId<HTMLFormElement>('asked');

  constructor(ask: (values: Readonly<Record<string, string>>, count: number) => Promise<readonly Neighbour[]>) {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      const given = new FormData(this.#form);
      const values = Object.fromEntries(
        this.#schema!.features.map(({ name }) => [name, String(given.get(name) ?? '')]),
      );
      void ask(values, COUNT).then((found) => this.#list(found));
    });
  }

  offer(schema: Schema): void {
    this.#schema = schema;
    const fields = schema.features
      .filter(({ name }) => name !== schema.item)
      .map(({ name, kind, values }, i) => {
        const list = element('datalist', { id: `values-${i}` }, ...values.map((value) => element('option', { value })));
        const input = element('input', { name, autocomplete: 'off' });
        if (kind === 'number') Object.assign(input, { type: 'number', step: 'any' });
        else input.setAttribute('list', list.id);
        input.value = kind === 'number' ? '' : (values[0] ?? '');
        if (kind === 'list') input.placeholder = 'several with | between';
        return [field(name, input), list];
      });
    this.#form.replaceChildren(...fields.flat(), element('button', { className: 'primary', textContent: 'Recommend' }));
    byId('best').replaceChildren();
    byId('recommend').hidden = false;
  }

  clear(): void {
    byId('recommend').hidden = true;
  }

  #list(found: readonly Neighbour[]): void {
    const { item, task, positive, label } = this.#schema!;
    const meaning = task === 'chance' ? `Chance that ${positive}` : task === 'number' ? label! : 'Score';
    const rows = found.map(({ name, score }) => {
      const text = task === 'chance' ? `${(100 * score).toFixed(1)} %` : score.toFixed(3);
      const row = tableRow(name, ['score', text]);
      row.lastElementChild!.setAttribute('title', String(score));
      return row;
    });
    const made = table(`Best values of ${item}`, [item, meaning], rows);
    made.querySelectorAll('thead th')[1]!.className = 'score';
    byId('best').replaceChildren(made);
  }
}
